import { html } from '@tollgate/http'
import { renderDocument } from '../http/document.ts'
import type { PageText } from './messages/messages.ts'
import type { ErrorView } from './pages.ts'

/**
 * Renders an error that cannot be sent to the application, because its redirect URI is not proven.
 */
export function renderErrorPage(view: ErrorView, t: PageText): string {
  const { message, hint, again, isTechnical } = view
  // Technical messages are in English, whatever the language of the page.
  const inEnglish = isTechnical ? html` lang="en"` : null
  const preface = isTechnical ? html`<p>${t('error.forDevelopers')}</p>\n` : null
  return renderDocument(
    { title: t('error.title'), language: t.language, stylesheet: 'pages.css' },
    html`<h1>${t('error.heading')}</h1>
${preface}<p${inEnglish}>${sentence(message)}</p>${hint && html`\n<p class="note"${inEnglish}>${sentence(hint)}</p>`}${again && html`\n<p><a href="${again}">${t('error.again')}</a></p>`}`,
  )
}

/** Adds the full stop that technical messages lack. */
function sentence(text: string): string {
  return text.replace(/\.?$/, '.')
}
