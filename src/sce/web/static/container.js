// One container for all arrays that travel: "SCEB", the length of a JSON header, the header, arrays at multiples of 8 bytes.

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };

/** The meta data and the arrays of a container: { meta, arrays: { name: { data, shape } } }. */
export function unpack(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < 8 || head.getUint32(0, false) !== 0x53434542) {
    throw new Error("The server sent something that is no container of arrays.");
  }
  const length = head.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const arrays = {};
  for (const { name, dtype, shape, offset } of header.arrays) {
    const count = shape.reduce((product, side) => product * side, 1);
    arrays[name] = { data: new KINDS[dtype](buffer, offset, count), shape };
  }
  return { meta: header.meta, arrays };
}

/** The bytes of a text in base64. */
export function fromBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Bytes as base64. */
export function toBase64(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 0x8000) {
    parts.push(String.fromCharCode.apply(null, bytes.subarray(i, i + 0x8000)));
  }
  return btoa(parts.join(""));
}
