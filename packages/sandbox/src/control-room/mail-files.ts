import type { HttpResponse } from '../core/http.ts'
import type { SandboxMail } from '../mail/mailbox.ts'
import type { ObservedSandbox } from './story/observed-sandbox.ts'

/**
 * Serves a part of a mail: its HTML, its raw source or an attachment. The content comes from the
 * application's users, so the response forbids scripts. Returns `null` if there is no such part.
 */
export function serveMailPart(path: string, { mail }: ObservedSandbox): HttpResponse | null {
  const [, id = '', part = ''] =
    /^\/mail\/(mail_\d+)\/(html|raw|attachments\/\d+)$/.exec(path) ?? []
  const found = mail?.find(id)
  if (!found) return null
  if (part === 'html') return sendPart(found.html, 'text/html; charset=utf-8', HTML_POLICY)
  if (part === 'raw') return sendPart(found.raw, 'text/plain; charset=utf-8', NO_POLICY)
  return sendAttachment(found, Number(part.slice('attachments/'.length)))
}

const NO_POLICY = "default-src 'none'; sandbox"
/** Mail has inline styles. Scripts, forms and requests to other hosts are forbidden. */
const HTML_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox"

function sendPart(body: string | null, type: string, policy: string): HttpResponse | null {
  return body === null ? null : { status: 200, headers: headersOf(type, policy), body }
}

function sendAttachment({ attachments }: SandboxMail, at: number): HttpResponse | null {
  const file = attachments[at]
  if (!file) return null
  const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`
  const headers = headersOf('application/octet-stream', NO_POLICY)
  return {
    status: 200,
    headers: { ...headers, 'content-disposition': disposition },
    body: file.content,
  }
}

const headersOf = (type: string, policy: string) => ({
  'cache-control': 'no-store',
  'content-type': type,
  'content-security-policy': policy,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})
