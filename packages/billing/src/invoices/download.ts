import { type HttpResponse, toWebResponse } from '@tollgate/http'
import type { Invoice } from './invoice.ts'
import { type InvoicePdfOptions, renderInvoice } from './pdf.ts'

/** Who writes the invoice, and for what. */
export type DownloadOptions = InvoicePdfOptions

/** The PDF as the response of a route. */
export async function invoiceResponse(
  invoice: Invoice,
  options: DownloadOptions,
): Promise<HttpResponse> {
  const body = await renderInvoice(invoice.data, options)
  const name = fileName(options.product, invoice.date())
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

/** `<product>_<month>_<year>.pdf`, with nothing in it that a header or a file system would mind. */
export function fileName(product: string, date: Date): string {
  const safe = product
    .normalize('NFC')
    .replace(/[\p{C}\p{Z}"'\\/:*?<>|%;,]+/gu, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, 100)
  return `${safe || 'invoice'}_${date.getUTCMonth() + 1}_${date.getUTCFullYear()}.pdf`
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
