import { type HttpResponse, toWebResponse } from '@tollgate/http'
import type { CreditNote } from '../credit-notes/credit-note.ts'
import type { Invoice } from './invoice.ts'
import { renderCreditNote, renderInvoice } from './pdf.ts'
import type { InvoicePdfOptions } from './pdf-options.ts'

/**
 * Options for `downloadInvoice()`: the vendor, the product, the language and the look of the PDF.
 */
export type DownloadOptions = InvoicePdfOptions

/** Renders an invoice as PDF, and returns it as the response of our own download route. */
export async function respondWithInvoice(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<HttpResponse> {
  const body = await renderReceipt(invoice, options)
  return pdfResponse(body, buildPdfFileName(options.product, invoice.date()))
}

/** Renders an invoice as PDF, and returns it as a file to attach to mail. */
export async function renderInvoiceFile(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<{ name: string; type: string; body: Uint8Array }> {
  const body = await renderReceipt(invoice, options)
  return { name: buildPdfFileName(options.product, invoice.date()), type: 'application/pdf', body }
}

/** Renders an invoice with the payment methods with which it was paid. */
async function renderReceipt(invoice: Invoice, options: DownloadOptions) {
  const { paidWith = await invoice.paidWith() } = options
  return renderInvoice(invoice.data, { ...options, paidWith })
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

/**
 * Renders an invoice as PDF, and returns it as a web-standard `Response`, which a route of the
 * application can return.
 */
export async function downloadAsResponse(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<Response> {
  return toWebResponse(await respondWithInvoice(invoice, options))
}

/**
 * Renders a credit note as PDF, and returns it as a web-standard `Response`. The file name contains
 * the number of the credit note, because a month can have several.
 */
export async function downloadCreditNotePdf(
  note: CreditNote,
  options: DownloadOptions,
): Promise<Response> {
  const body = await renderCreditNote(note.data, options)
  return toWebResponse(pdfResponse(body, `${safeName(note.number) || 'credit-note'}.pdf`))
}

/**
 * Returns the file name of a PDF, `<product>_<month>_<year>.pdf`, without characters that break
 * HTTP headers or file systems.
 */
export function buildPdfFileName(product: string, date: Date): string {
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
