import { type HttpResponse, toWebResponse } from '@tollgate/http'
import type { CreditNote } from './credit-note.ts'
import type { Invoice } from './invoice.ts'
import { type InvoicePdfOptions, renderCreditNote, renderInvoice } from './pdf.ts'

/** Who writes the invoice, and for what. */
export type DownloadOptions = InvoicePdfOptions

/** The PDF as the response of a route. */
export async function invoiceResponse(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<HttpResponse> {
  const body = await renderInvoice(invoice.data, options)
  return pdfResponse(body, fileName(options.product, invoice.date()))
}

/** The same as a file, for mail. */
export async function invoiceFile(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<{ name: string; type: string; body: Uint8Array }> {
  const body = await renderInvoice(invoice.data, options)
  return { name: fileName(options.product, invoice.date()), type: 'application/pdf', body }
}

function pdfResponse(body: Uint8Array<ArrayBuffer>, name: string): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${toAscii(name)}"; filename*=UTF-8''${encodeName(name)}`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    },
    body,
  }
}

/** The same as a Web-standard object, for routes of the application's own. */
export async function invoiceDownload(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<Response> {
  return toWebResponse(await invoiceResponse(invoice, options))
}

/** A credit note as a Web-standard object. Its file is named after its number: a month may have several. */
export async function creditNoteDownload(
  note: CreditNote,
  options: DownloadOptions,
): Promise<Response> {
  const body = await renderCreditNote(note.data, options)
  return toWebResponse(pdfResponse(body, `${safeName(note.number) || 'credit-note'}.pdf`))
}

/** `<product>_<month>_<year>.pdf`, with nothing in it that a header or a file system would mind. */
export function fileName(product: string, date: Date): string {
  const safe = safeName(product) || 'invoice'
  return `${safe}_${date.getUTCMonth() + 1}_${date.getUTCFullYear()}.pdf`
}

function safeName(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{C}\p{Z}"'\\/:*?<>|%;,]+/gu, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, 100)
}

function toAscii(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, '_')
}

function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
}
