//! Keys of strings and of small ids.

const P1: u64 = 0x9E3779B185EBCA87;
const P2: u64 = 0xC2B2AE3D27D4EB4F;
const P3: u64 = 0x165667B19E3779F9;
const P4: u64 = 0x85EBCA77C2B2AE63;
const P5: u64 = 0x27D4EB2F165667C5;

fn round(acc: u64, word: u64) -> u64 {
    acc.wrapping_add(word.wrapping_mul(P2))
        .rotate_left(31)
        .wrapping_mul(P1)
}

/// Up to 8 bytes, lowest first.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The key of a string's bytes.
pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let stripes = bytes.chunks_exact(32);
    let words = stripes.remainder().chunks_exact(8);
    let tail = words.remainder();
    let (half, tail) = tail.split_at(tail.len() & 4);

    let mut h = if bytes.len() < 32 {
        seed.wrapping_add(P5)
    } else {
        let first = seed.wrapping_add(P1).wrapping_add(P2);
        let mut lanes = [first, seed.wrapping_add(P2), seed, seed.wrapping_sub(P1)];
        for stripe in stripes {
            for (lane, bytes) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                *lane = round(*lane, word(bytes));
            }
        }
        let turned = lanes
            .iter()
            .zip([1, 7, 12, 18])
            .map(|(lane, turns)| lane.rotate_left(turns));
        let sum = turned.fold(0, u64::wrapping_add);
        lanes.iter().fold(sum, |h, &lane| {
            (h ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4)
        })
    };
    h = h.wrapping_add(bytes.len() as u64);
    for bytes in words {
        h = (h ^ round(0, word(bytes)))
            .rotate_left(27)
            .wrapping_mul(P1)
            .wrapping_add(P4);
    }
    if !half.is_empty() {
        h = (h ^ word(half).wrapping_mul(P1))
            .rotate_left(23)
            .wrapping_mul(P2)
            .wrapping_add(P3);
    }
    for &byte in tail {
        h = (h ^ u64::from(byte).wrapping_mul(P5))
            .rotate_left(11)
            .wrapping_mul(P1);
    }
    h = (h ^ h >> 33).wrapping_mul(P2);
    h = (h ^ h >> 29).wrapping_mul(P3);
    h ^ h >> 32
}

/// The key of a 32-bit id.
pub fn mix32(id: u32) -> u64 {
    let mut x = id;
    x = (x ^ x >> 16).wrapping_mul(0x85EBCA6B);
    x = (x ^ x >> 13).wrapping_mul(0xC2B2AE35);
    u64::from(x ^ x >> 16)
}
