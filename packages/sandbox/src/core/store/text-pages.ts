/** Size of a page in bytes. A longer text gets a page of its own length. */
const PAGE = 1_048_576
/**
 * Characters outside Latin-1, which are escaped: writing and reading Latin-1 takes a third of the
 * time that UTF-8 takes.
 */
const NOT_LATIN = /[\u0100-\uffff]/g
/** Newline, which ends each text. JSON escapes newlines inside texts. */
const END = 10

interface Page {
  readonly bytes: Buffer
  /** Bytes of texts that have not been removed. */
  live: number
}

/**
 * JSON texts stored outside the JavaScript heap, where the garbage collector neither scans nor
 * copies them and each character takes one byte. A text is identified by its address, a number.
 */
export class TextPages {
  readonly #pages: Array<Page | null> = []
  /** Position up to which the last page is filled. */
  #filled = PAGE
  #live = 0
  #held = 0

  /**
   * Stores texts and returns the address of each. Storing several texts at once takes hardly longer
   * than storing one.
   */
  add(texts: readonly string[]): number[] {
    if (texts.length === 0) return []
    const all = `${texts.join('\n')}\n`
    if (all.search(NOT_LATIN) >= 0) {
      return this.add(texts.map((each) => each.replaceAll(NOT_LATIN, escaped)))
    }
    const size = all.length
    if (size > PAGE && texts.length > 1) return texts.flatMap((each) => this.add([each]))
    if (this.#filled + size > PAGE) {
      this.#freePage(this.#pages.length - 1)
      this.#pages.push({ bytes: Buffer.allocUnsafeSlow(Math.max(PAGE, size)), live: 0 })
      this.#filled = 0
      this.#held += Math.max(PAGE, size)
    }
    const last = this.#pages.length - 1
    const page = this.#pageOf(last * PAGE)
    page.bytes.write(all, this.#filled, 'latin1')
    page.live += size
    this.#live += size
    return texts.map(({ length }) => {
      const address = last * PAGE + this.#filled
      this.#filled += length + 1
      return address
    })
  }

  read(address: number): string {
    const { bytes } = this.#pageOf(address)
    return bytes.toString('latin1', address % PAGE, endOf(bytes, address))
  }

  /** Removes a text. Frees the text's page if no other text is left on it. */
  remove(address: number): void {
    const page = this.#pageOf(address)
    const size = endOf(page.bytes, address) + 1 - (address % PAGE)
    page.live -= size
    this.#live -= size
    const number = Math.floor(address / PAGE)
    if (number < this.#pages.length - 1) this.#freePage(number)
  }

  /** Whether removed texts take more than half of the memory (and at least eight pages). */
  get isMostlyUnused(): boolean {
    return this.#held > 2 * this.#live + 8 * PAGE
  }

  #freePage(number: number): void {
    const page = this.#pages[number]
    if (!page || page.live > 0) return
    this.#pages[number] = null
    this.#held -= page.bytes.length
  }

  #pageOf(address: number): Page {
    const page = this.#pages[Math.floor(address / PAGE)]
    if (!page) throw new TypeError(`There is no text at ${address}`)
    return page
  }
}

function endOf(bytes: Buffer, address: number): number {
  return bytes.indexOf(END, address % PAGE)
}

/** Escapes a character as JSON does. */
function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}
