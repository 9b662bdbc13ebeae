//! The macro that declares a metadata message once, as a struct with its codec.

/// Declares messages. Each field says its type, then, where it is not in every version, the first
/// version that has it (`since 2`), and its default where that is not the type's own (`= -1`).
/// Fields under `tags` are written after the others, by number, and only when not default.
///
/// Why a macro: field, type and place on the wire are said once, so they cannot drift apart.
macro_rules! messages {
    ($(
        $(#[doc = $about:literal])+
        $name:ident {
            $( $field:ident: $type:ty $(, since $since:literal)? $(, = $default:expr)?; )*
        } $( tags {
            $( $tag:literal $opt:ident: $opt_type:ty
                $(, since $opt_since:literal)? $(, = $opt_default:expr)?; )+
        } )?
    )*) => { $(
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( pub $field: $type, )*
            $( $( pub $opt: $opt_type, )+ )?
            /// Tagged fields that this version of the program does not know.
            pub unknown: Unknown,
        }

        impl Default for $name {
            fn default() -> $name {
                $name {
                    $( $field: messages!(@default $($default)?), )*
                    $( $( $opt: messages!(@default $($opt_default)?), )+ )?
                    unknown: Unknown::default(),
                }
            }
        }

        impl Message for $name {
            fn read(reader: &mut Reader<'_>, version: i16) -> Result<$name, Malformed> {
                let _ = version; // A message without optional fields does not ask.
                let mut message = $name::default();
                $( if messages!(@has version $($since)?) {
                    message.$field = Field::read(reader, version)
                        .map_err(|error| error.inside(stringify!($field)))?;
                } )*
                for _ in 0..reader.uvarint()? {
                    let tag = reader.uvarint()?;
                    let len = reader.len()?;
                    let bytes = reader.take(len)?;
                    match tag {
                        $( $( $tag if messages!(@has version $($opt_since)?) => {
                            let mut inner = Reader::new(bytes);
                            message.$opt = Field::read(&mut inner, version)
                                .and_then(|field| inner.finish().map(|()| field))
                                .map_err(|error| error.inside(stringify!($opt)))?;
                        } )+ )?
                        _ => message.unknown.keep(tag, bytes),
                    }
                }
                Ok(message)
            }

            fn write(&self, out: &mut Vec<u8>, version: i16) {
                let _ = version;
                $( if messages!(@has version $($since)?) {
                    Field::write(&self.$field, out, version);
                } )*
                let mut tags = self.unknown.to_vec();
                $( $( if messages!(@has version $($opt_since)?) {
                    let default: $opt_type = messages!(@default $($opt_default)?);
                    if self.$opt != default {
                        let mut bytes = Vec::new();
                        Field::write(&self.$opt, &mut bytes, version);
                        tags.push(($tag, bytes));
                    }
                } )+ )?
                tags.sort_by_key(|(tag, _)| *tag);
                write_tags(&tags, out);
            }

            fn shown(&self, version: i16) -> Vec<(&'static str, Shown)> {
                let _ = version;
                let mut fields = Vec::new();
                fields.extend(None); // A message may have no fields.
                $( if messages!(@has version $($since)?) {
                    fields.push((stringify!($field), Field::shown(&self.$field, version)));
                } )*
                $( $( if messages!(@has version $($opt_since)?) {
                    let default: $opt_type = messages!(@default $($opt_default)?);
                    if self.$opt != default {
                        fields.push((stringify!($opt), Field::shown(&self.$opt, version)));
                    }
                } )+ )?
                fields
            }
        }
    )* };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@has $version:ident) => { true };
    (@has $version:ident $since:literal) => { $since <= $version };
}

/// Lets messages stand inside messages.
macro_rules! fields {
    ($($name:ident)*) => { $(
        impl Field for $name {
            fn read(reader: &mut Reader<'_>, version: i16) -> Result<$name, Malformed> {
                Message::read(reader, version)
            }
            fn write(&self, out: &mut Vec<u8>, version: i16) {
                Message::write(self, out, version);
            }
            fn shown(&self, version: i16) -> Shown {
                Shown::Fields(Message::shown(self, version))
            }
        }
    )* };
}
pub(super) use {fields, messages};
