/** A page's size, in bytes. A longer text has a longer page of its own. */
const PAGE = 1_048_576
/** Texts begin at multiples of this, which keeps addresses small. */
const UNIT = 8
const UNITS = PAGE / UNIT
/** Before each text, its length in bytes times two, and one more for UTF-8; then how many hold it. */
const HEADER = 8
const HOLDERS = 4
/** Other texts are Latin-1, which is written and read in a third of the time. */
const NEEDS_UTF8 = /[\u0100-\uffff]/

interface Page {
  readonly bytes: Buffer
  /** Of the texts that are still wanted. */
  live: number
}

/**
 * Texts outside of JavaScript's heap. There the collector neither looks at them nor copies them, and they take a byte
 * a character. A text is known by its address, a number.
 */
export class TextPages {
  #pages: Array<Page | null> = []
  /** The page that is being filled is the last one, up to here. */
  #filled = PAGE
  #live = 0
  #held = 0
  #spare: Buffer | null = null

  /** It stays until it was removed as often as it has holders. */
  add(text: string, holders = 1): number {
    const isWide = NEEDS_UTF8.test(text)
    // UTF-8 takes three bytes at most for a unit of UTF-16.
    const most = HEADER + (isWide ? 3 : 1) * text.length
    if (this.#filled + most > PAGE) this.#turn(most)
    const number = this.#pages.length - 1
    const page = this.#pages[number] as Page
    const start = this.#filled
    const length = page.bytes.write(text, start + HEADER, isWide ? 'utf8' : 'latin1')
    page.bytes.writeUInt32LE(2 * length + (isWide ? 1 : 0), start)
    page.bytes.writeUInt32LE(holders, start + HOLDERS)
    const taken = inUnits(HEADER + length)
    this.#filled = start + taken
    page.live += taken
    this.#live += taken
    return number * UNITS + start / UNIT
  }

  /** The text, or so many bytes of its start. */
  read(address: number, most = Number.POSITIVE_INFINITY): string {
    const { bytes } = this.#pageOf(address)
    const start = startOf(address)
    const from = start + HEADER
    const header = bytes.readUInt32LE(start)
    const end = from + Math.min(most, header >>> 1)
    return bytes.toString(header & 1 ? 'utf8' : 'latin1', from, end)
  }

  holdersOf(address: number): number {
    return this.#pageOf(address).bytes.readUInt32LE(startOf(address) + HOLDERS)
  }

  /** For one of its holders. A page is given back when nothing of it is wanted any more. */
  remove(address: number): void {
    const page = this.#pageOf(address)
    const start = startOf(address)
    const holders = page.bytes.readUInt32LE(start + HOLDERS) - 1
    if (holders > 0) {
      page.bytes.writeUInt32LE(holders, start + HOLDERS)
      return
    }
    const length = page.bytes.readUInt32LE(start) >>> 1
    const taken = inUnits(HEADER + length)
    page.live -= taken
    this.#live -= taken
    const number = Math.floor(address / UNITS)
    if (number < this.#pages.length - 1) this.#giveBack(number)
  }

  /** More than half of what it takes, and some pages at least, is texts that nobody wants. */
  get isMostlyWaste(): boolean {
    return this.#held > 2 * this.#live + 8 * PAGE
  }

  #turn(room: number): void {
    this.#giveBack(this.#pages.length - 1)
    let bytes = room > PAGE ? null : this.#spare
    if (bytes) this.#spare = null
    bytes ??= Buffer.allocUnsafeSlow(Math.max(PAGE, room))
    this.#pages.push({ bytes, live: 0 })
    this.#filled = 0
    this.#held += bytes.length
  }

  #giveBack(number: number): void {
    const page = this.#pages[number]
    if (!page || page.live > 0) return
    this.#pages[number] = null
    this.#held -= page.bytes.length
    if (page.bytes.length === PAGE) this.#spare = page.bytes
  }

  #pageOf(address: number): Page {
    const page = this.#pages[Math.floor(address / UNITS)]
    if (!page) throw new TypeError(`There is no text at ${address}`)
    return page
  }
}

function startOf(address: number): number {
  return (address % UNITS) * UNIT
}

function inUnits(bytes: number): number {
  return Math.ceil(bytes / UNIT) * UNIT
}
