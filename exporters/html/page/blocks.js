// blocks.js - reads a block of data in the page; see data_block.h.

// A name may begin with a byte order mark.
const TEXTS = new TextDecoder("utf-8", { ignoreBOM: true });

/** Numbers and texts, one after the other. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  unsigned() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;
    }
    return value;
  }

  signed() {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Exact where it needs more than the 53 bits of a number. */
  exactUnsigned() {
    let value = BigInt(0);
    for (let shift = BigInt(0); ; shift += BigInt(7)) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  /** The same of a number with a sign. */
  exactSigned() {
    const value = this.exactUnsigned();
    return value & BigInt(1) ? -(value + BigInt(1)) / BigInt(2)
      : value / BigInt(2);
  }

  double() {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    this.at += 8;
    return view.getFloat64(this.at - 8, true);
  }

  text() {
    const length = this.unsigned();
    this.at += length;
    return TEXTS.decode(
      this.bytes.subarray(this.at - length, this.at));
  }
}

/**
 * The bytes of a block; its text is no longer needed then.
 * @param {Element} data all blocks of a trace @param {string} name
 */
async function readBlock(data, name) {
  const element = data.querySelector(`[data-name="${name}"]`);
  const text = atob(element ? element.textContent || "" : "");
  if (element) element.remove();
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream()
    .pipeThrough(new (/** @type {any} */ (window)).DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The blocks with these names.
 * @param {Element} data @param {string[]} names
 */
export async function readBlocks(data, names) {
  const bytes = await Promise.all(names.map((name) => readBlock(data, name)));
  /** @type {Record<string, Reader>} */
  const blocks = {};
  names.forEach((name, i) => { blocks[name] = new Reader(bytes[i]); });
  return blocks;
}
