//! In which order, and in which versions, the fields of the groups' values are written. Names are
//! ours; order, versions and defaults are those of Apache Kafka 4.4.

use super::group::{
    ClassicGroupValue, ClassicMemberMetadata, ClassicMemberValue, ConsumerGroupValue, CurrentValue,
    MemberTargetValue, MemberValue, OffsetKey, OffsetValue, RegexValue, TargetValue,
    TopicPartitions,
};
use super::wire::{Field, Malformed, Reader, Writer};
use bytes::Bytes;
use std::sync::Arc;

/// Each field in its place; `in 3..` says in which versions, and `else` what it is in others.
/// One with a number is a tagged field: written after the others, and only when not default.
macro_rules! layouts {
    ($(
        $name:ident {
            $( $field:ident $(, in $versions:expr, else $absent:expr)?; )*
            $( $tag:literal $opt:ident; )?
        }
    )*) => { $(
        impl Field for $name {
            fn read(reader: &mut Reader<'_>) -> Result<$name, Malformed> {
                $( let $field = layouts!(@when $(($versions).contains(&reader.version), $absent,)? {
                    Field::read(reader).map_err(|error: Malformed| error.inside(stringify!($field)))?
                }); )*
                $( let mut $opt = Default::default(); )?
                reader.tags(|_tag, _inner| {
                    $( if _tag == $tag {
                        $opt = Field::read(_inner)
                            .map_err(|error: Malformed| error.inside(stringify!($opt)))?;
                    } )?
                    Ok(())
                })?;
                Ok($name { $( $field, )* $( $opt, )? })
            }

            fn write(&self, out: &mut Writer) {
                $( layouts!(@when $(($versions).contains(&out.version), (),)? {
                    self.$field.write(out)
                }); )*
                out.tags(layouts!(@tagged $($tag, &self.$opt)?));
            }
        }
    )* };
    (@tagged) => { None::<(u32, &i8)> };
    (@tagged $tag:literal, $field:expr) => { Some(($tag, $field)) };
    (@when $do:block) => { $do };
    (@when $there:expr, $absent:expr, $do:block) => { if $there $do else { $absent } };
}

layouts! {
    OffsetKey {
        group;
        topic;
        partition;
    }

    OffsetValue {
        offset;
        leader_epoch, in 3.., else -1;
        metadata;
        commit_timestamp_ms;
        expire_timestamp_ms, in 1..=1, else -1;
        0 topic_id;
    }

    ClassicGroupValue {
        protocol_type;
        generation;
        protocol;
        leader;
        current_state_timestamp_ms, in 2.., else -1;
        members;
    }

    ClassicMemberValue {
        member_id;
        group_instance_id, in 3.., else None;
        client_id;
        client_host;
        rebalance_timeout_ms, in 1.., else -1;
        session_timeout_ms;
        subscription;
        assignment;
    }

    ConsumerGroupValue {
        epoch;
        0 metadata_hash;
    }

    MemberValue {
        instance_id;
        rack_id;
        client_id;
        client_host;
        subscribed_topics;
        subscribed_regex;
        rebalance_timeout_ms;
        server_assignor;
        0 classic;
    }

    ClassicMemberMetadata {
        session_timeout_ms;
        protocols;
    }

    TargetValue {
        epoch;
        0 timestamp_ms;
    }

    MemberTargetValue {
        partitions;
    }

    TopicPartitions {
        topic_id;
        partitions;
        0 epochs;
    }

    CurrentValue {
        member_epoch;
        previous_member_epoch;
        state;
        assigned;
        pending_revocation;
    }

    RegexValue {
        topics;
        version;
        timestamp_ms;
    }
}

/// A protocol of a classic member, and what the member says of itself under it.
impl Field for (Arc<str>, Bytes) {
    fn read(reader: &mut Reader<'_>) -> Result<(Arc<str>, Bytes), Malformed> {
        let protocol = (Field::read(reader)?, Field::read(reader)?);
        reader.tags(|_, _| Ok(()))?;
        Ok(protocol)
    }

    fn write(&self, out: &mut Writer) {
        self.0.write(out);
        self.1.write(out);
        out.tags(None::<(u32, &i8)>);
    }
}

/// A byte says whether there is one. It is written where there is none too: Kafka's reader takes
/// the field's absence for a member that uses the classic protocol.
impl Field for Option<ClassicMemberMetadata> {
    const ALWAYS: bool = true;

    fn read(reader: &mut Reader<'_>) -> Result<Option<ClassicMemberMetadata>, Malformed> {
        let is_null = i8::read(reader)? <= 0;
        if is_null { Ok(None) } else { Field::read(reader).map(Some) }
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Some(metadata) => {
                1_i8.write(out);
                metadata.write(out);
            }
            None => 0_i8.write(out),
        }
    }
}
