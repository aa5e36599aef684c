/** A document to print: every text is ready, in the reader's language. */
export interface PrintedDocument {
  /** The language, as BCP 47 writes it, such as `de-AT`. */
  readonly locale: string
  /** Whether the page is read from the right. */
  readonly rightToLeft: boolean
  /** What the file says about itself. `date` is its only moment, so the same document gives the same bytes. */
  readonly file: { readonly title: string; readonly author: string; readonly date: Date }
  /** Who sells, at the top of the first page. */
  readonly seller: {
    /** A company or a person. */
    readonly name: string
    /** Lines under the name. */
    readonly lines: readonly string[]
    /** A PNG or JPEG, above the name. */
    readonly logo: Uint8Array | null
  }
  /** What the document is, such as "Invoice". */
  readonly title: string
  /** Lines under the title: number, date. */
  readonly facts: readonly string[]
  /** To whom it was written: a label such as "Billed to", and lines below it. */
  readonly buyer: { readonly label: string; readonly lines: readonly string[] }
  /** The heads of the columns. */
  readonly columns: {
    readonly description: string
    readonly period: string
    readonly amount: string
  }
  /** What was sold. */
  readonly rows: readonly PrintedRow[]
  /** Under the table, in order. */
  readonly totals: readonly PrintedTotal[]
  /** Sentences under the totals. */
  readonly notes: readonly string[]
  /** At the end of the last page; empty for nothing. */
  readonly footer: string
  /** Lines at the foot of every page. */
  readonly legal: readonly string[]
  /** What stands at the foot of each page of a document that has several. */
  pageNumber(page: number, pages: number): string
  /** TrueType or OpenType files; default: DejaVu Sans, which has Latin, Greek, Cyrillic, Hebrew and Arabic. */
  readonly fonts?: PrintedFonts
}

/** One thing that was sold. */
export interface PrintedRow {
  /** What it was. */
  readonly description: string
  /** The days it is for; null for none. */
  readonly period: string | null
  /** What it costs, with its currency. */
  readonly amount: string
}

/** A line of the sum. */
export interface PrintedTotal {
  /** What it is, such as "Total". */
  readonly label: string
  /** How much, with its currency. */
  readonly amount: string
  /** The total itself, below a rule. */
  readonly strong?: boolean
}

/** The files of a font. */
export interface PrintedFonts {
  /** For text. */
  readonly regular: Uint8Array
  /** For the seller, the title and the total. */
  readonly bold: Uint8Array
}
