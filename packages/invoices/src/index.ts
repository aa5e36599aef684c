import PDFDocument from 'pdfkit'
import type { PrintedDocument } from './document.ts'
import { embeddedFonts, readFonts } from './fonts.ts'
import { MARGIN, Pages } from './pages.ts'

export type { PrintedDocument, PrintedFonts, PrintedRow, PrintedTotal } from './document.ts'

/**
 * Prints a document as a PDF of as many A4 pages as it takes. The same document gives the same bytes.
 * @example
 * const bytes = await renderPdf({ title: 'Invoice', rows: [{ description: 'Pro', period: null, amount: '€10.00' }], … })
 */
export async function renderPdf(printed: PrintedDocument): Promise<Uint8Array<ArrayBuffer>> {
  const { locale, file } = printed
  const fonts = await (printed.fonts ? readFonts(printed.fonts) : embeddedFonts())
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
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
  new Pages(document, printed).draw()
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
