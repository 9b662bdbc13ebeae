//! ControllerRegistration: a controller process came up and says who it is.

use super::broker_registration::check_features;
use super::decision::{Decide, Decision, Now};
use super::refusal::Refusal;
use super::state::State;
use crate::image::{Controller, Image};
use crate::record::{Endpoint, FeatureRange, Record};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::{ControllerRegistrationRequest, ControllerRegistrationResponse};

/// The level of `metadata.version` from which controllers register (KIP-919).
const CONTROLLERS_LEVEL: i16 = 15;

impl Decide for ControllerRegistrationRequest {
    fn decide(
        self,
        image: &Image,
        _: &mut State,
        _: &Now<'_>,
    ) -> Decision<ControllerRegistrationResponse> {
        if let Err(refusal) = check(&self, image) {
            return Decision::answer(
                ControllerRegistrationResponse::default()
                    .with_error_code(refusal.code.code())
                    .with_error_message(Some(refusal.text())),
            );
        }
        let listeners = self.listeners.iter().map(|it| Endpoint {
            name: it.name.to_string(),
            host: it.host.to_string(),
            port: it.port,
            security_protocol: it.security_protocol,
            ..Endpoint::default()
        });
        let features = self.features.iter().map(|it| FeatureRange {
            name: it.name.to_string(),
            min_supported_version: it.min_supported_version,
            max_supported_version: it.max_supported_version,
            ..FeatureRange::default()
        });
        let record = Record::from(Controller {
            controller_id: self.controller_id,
            incarnation_id: Uuid::from(self.incarnation_id),
            zk_migration_ready: self.zk_migration_ready,
            end_points: listeners.collect(),
            features: features.collect(),
            ..Controller::default()
        });
        let response = ControllerRegistrationResponse::default().with_error_message(None);
        Decision::append(vec![record], response)
    }
}

fn check(request: &ControllerRegistrationRequest, image: &Image) -> Result<(), Refusal> {
    let level = image.metadata_version();
    if level < CONTROLLERS_LEVEL {
        let why = format!(
            "controllers register from level {CONTROLLERS_LEVEL} of metadata.version on; it stands \
             at {level}"
        );
        return Err(Refusal::new(ErrorCode::UnsupportedVersion, why));
    }
    let offered = request.features.iter();
    let offered: Vec<_> = offered
        .map(|it| (it.name.as_str(), it.min_supported_version, it.max_supported_version))
        .collect();
    check_features(image, &offered)
}
