import type { HttpResponse } from '@tollgate/http'
import { sha256Base64 } from '../crypto.ts'
import { documentOf, escapeHtml } from './document.ts'

const SCRIPT = 'document.forms[0].submit()'

/**
 * A page whose form sends itself to the client. Only this very script may run in it. `form-action` is left
 * out: browsers apply it to whatever the client redirects to as well, and the address was proven before.
 */
export function formPostPage(
  action: string,
  pairs: ReadonlyArray<readonly [name: string, value: string]>,
): HttpResponse {
  const fields = pairs.map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  const body = `<form method="post" action="${escapeHtml(action)}">
${fields.join('\n')}
<noscript><p>Your browser does not run script, so please go on by hand.</p><button>Continue</button></noscript>
</form>
<script>${SCRIPT}</script>`
  const policy = `default-src 'none'; script-src 'sha256-${sha256Base64(SCRIPT)}'; frame-ancestors 'none'; base-uri 'none'`
  return {
    status: 200,
    body: documentOf('Back to the application', null, body),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The address of this page is nobody's business; without an origin some clients refuse the form.
      'referrer-policy': 'origin',
    },
  }
}
