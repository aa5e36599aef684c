import PDFDocument from 'pdfkit'
import type { PrintedDocument } from './document.ts'
import { readEmbeddedFonts, readFonts } from './fonts.ts'
import { PAGE_MARGIN, PdfPages } from './pages.ts'

export type { PrintedDocument, PrintedFonts, PrintedRow, PrintedTotal } from './document.ts'

/**
 * Renders a document as a PDF with as many A4 pages as needed. The same document always gives the
 * same bytes.
 * @example
 * ```ts
 * const pdf = await renderPdf({
 *   locale: 'en',
 *   rightToLeft: false,
 *   file: { title: 'Invoice 7', author: 'Acme', date: new Date('2026-01-31') },
 *   seller: { name: 'Acme', lines: ['1 Main Street'], logo: null },
 *   title: 'Invoice',
 *   facts: ['Number 7', '31 January 2026'],
 *   buyer: { label: 'Billed to', lines: ['Ada Lovelace'] },
 *   columns: { description: 'Description', period: 'Period', amount: 'Amount' },
 *   rows: [{ description: 'Pro', period: null, amount: '€10.00' }],
 *   totals: [{ label: 'Total', amount: '€10.00', strong: true }],
 *   notes: [],
 *   footer: '',
 *   legal: [],
 *   pageNumber: (page, pages) => `Page ${page} of ${pages}`,
 * })
 * await writeFile('invoice-7.pdf', pdf)
 * ```
 */
export async function renderPdf(printed: PrintedDocument): Promise<Uint8Array<ArrayBuffer>> {
  const { locale, file } = printed
  const fonts = await (printed.fonts ? readFonts(printed.fonts) : readEmbeddedFonts())
  const document = new PDFDocument({
    size: 'A4',
    margin: PAGE_MARGIN,
    bufferPages: true,
    font: '',
    lang: locale,
    info: {
      Title: file.title,
      Author: file.author,
      Creator: 'Tollgate',
      Producer: 'Tollgate',
      CreationDate: file.date,
      ModDate: file.date,
    },
  })
  const bytes = collect(document)
  document.registerFont('regular', fonts.regular)
  document.registerFont('bold', fonts.bold)
  new PdfPages(document, printed).draw()
  document.end()
  return bytes
}

function collect(document: InstanceType<typeof PDFDocument>): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Uint8Array.from(Buffer.concat(chunks))))
    document.on('error', reject)
  })
}
