import { Html, type HttpResponse, html } from '@tollgate/http'
import { sha256Base64 } from '../crypto.ts'
import { renderDocument, renderHiddenFields } from '../http/document.ts'
import type { PageText } from './messages/messages.ts'

const SCRIPT = 'document.forms[0].submit()'

/**
 * Creates a page with a form that submits itself to the redirect URI of the client (response mode
 * `form_post`). Its Content-Security-Policy allows only the script that submits the form, and does
 * not restrict `form-action`, because browsers would apply that restriction to the client's own
 * redirects, too.
 */
export function renderFormPostPage(
  action: string,
  pairs: ReadonlyArray<readonly [name: string, value: string]>,
  t: PageText,
): HttpResponse {
  const body = html`<form method="post" action="${action}">
${renderHiddenFields(pairs)}
<noscript><p>${t('formPost.text')}</p><button>${t('formPost.button')}</button></noscript>
</form>
<script>${new Html(SCRIPT)}</script>`
  const policy = `default-src 'none'; script-src 'sha256-${sha256Base64(SCRIPT)}'; frame-ancestors 'none'; base-uri 'none'`
  return {
    status: 200,
    body: renderDocument(
      { title: t('formPost.title'), language: t.language, stylesheet: null },
      body,
    ),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // Hides the URL of this page but sends the origin, because some clients reject the form
      // without it.
      'referrer-policy': 'origin',
    },
  }
}
