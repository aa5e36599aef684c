/** A document to print. Every text is final, in the reader's language. */
export interface PrintedDocument {
  /** Language of the document as a BCP 47 tag, such as `de-AT`. */
  readonly locale: string
  /** Whether the page is laid out from right to left. */
  readonly rightToLeft: boolean
  /**
   * Metadata of the file. `date` is the only time in the file, so the same document always gives
   * the same bytes.
   */
  readonly file: { readonly title: string; readonly author: string; readonly date: Date }
  /** The seller, at the top of the first page. */
  readonly seller: {
    /** A company or a person. */
    readonly name: string
    /** Lines below the name, such as the postal address. */
    readonly lines: readonly string[]
    /** A PNG or JPEG to print above the name. `null` if there is no logo. */
    readonly logo: Uint8Array | null
  }
  /** Title of the document, such as "Invoice". */
  readonly title: string
  /** Lines below the title, such as number and date. */
  readonly facts: readonly string[]
  /** The recipient: a label such as "Billed to", and the lines below it. */
  readonly buyer: { readonly label: string; readonly lines: readonly string[] }
  /** Headings of the table's columns. */
  readonly columns: {
    readonly description: string
    readonly period: string
    readonly amount: string
  }
  /** Rows of the table, one for each item sold. */
  readonly rows: readonly PrintedRow[]
  /** Sums below the table, in order. */
  readonly totals: readonly PrintedTotal[]
  /** Sentences below the sums. */
  readonly notes: readonly string[]
  /** Text at the end of the last page. Empty for none. */
  readonly footer: string
  /** Lines at the bottom of every page. */
  readonly legal: readonly string[]
  /**
   * Returns the page number to print at the bottom of each page, if the document has more than one.
   */
  pageNumber(page: number, pages: number): string
  /**
   * TrueType or OpenType fonts. Default: DejaVu Sans, which covers Latin, Greek, Cyrillic, Hebrew
   * and Arabic.
   */
  readonly fonts?: PrintedFonts
}

/** An item in the table. */
export interface PrintedRow {
  /** Description of the item. */
  readonly description: string
  /** The period that the item covers. `null` if there is no period. */
  readonly period: string | null
  /** Price of the item, with its currency. */
  readonly amount: string
}

/** A sum below the table. */
export interface PrintedTotal {
  /** Name of the sum, such as "Total". */
  readonly label: string
  /** The amount, with its currency. */
  readonly amount: string
  /**
   * Whether to print a rule above and use the bold font, as for the total.
   * @default false
   */
  readonly strong?: boolean
}

/** The font files to print with. */
export interface PrintedFonts {
  /** Font for normal text. */
  readonly regular: Uint8Array
  /** Font for the seller, the title and the total. */
  readonly bold: Uint8Array
}
