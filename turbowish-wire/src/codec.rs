//! Codec of the stubs: checks the decoded size of a message before decoding it.

use std::marker::PhantomData;
use std::sync::Arc;

use prost::Message;
use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{self, DecodeBuf};
use tonic_prost::{ProstDecoder, ProstEncoder};

use crate::DECODED_LIMIT;
use crate::weight::{Weighed, weigh};

/// Codec of the generated stubs.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Weighed + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Decoder<U> {
        Decoder(ProstDecoder::default())
    }
}

/// Decoder that rejects messages beyond [`DECODED_LIMIT`].
#[derive(Debug)]
pub struct Decoder<U>(ProstDecoder<U>);

impl<U: Message + Weighed + Default> codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // A message is contiguous in this buffer, as it was collected.
        weigh(message.chunk(), U::shape(), DECODED_LIMIT).map_err(|overweight| {
            let mut status = Status::out_of_range(overweight.to_string());
            status.set_source(Arc::new(overweight));
            status
        })?;
        self.0.decode(message)
    }
}
