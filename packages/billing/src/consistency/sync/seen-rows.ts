/** Remembers row ids, one bit each: a million rows take 125 kB. */
export class SeenRows {
  #bits: Uint8Array

  /** Continues with what `toString` gave. */
  constructor(kept = '') {
    this.#bits = new Uint8Array(Buffer.from(kept, 'base64'))
  }

  add(id: number): void {
    const at = Math.floor(id / 8)
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(64, at * 2))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (id % 8))
  }

  has(id: number): boolean {
    return ((this.#bits[Math.floor(id / 8)] ?? 0) & (1 << (id % 8))) !== 0
  }

  /** Number of bytes that are kept. */
  get size(): number {
    return this.#bits.length
  }

  toString(): string {
    return Buffer.from(this.#bits).toString('base64')
  }
}
