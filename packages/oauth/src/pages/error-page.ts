import { documentOf, escapeHtml } from '../http/document.ts'
import type { ErrorView } from './pages.ts'

/** For what cannot be sent to the application, because its address is not proven. */
export function errorPage(view: ErrorView): string {
  const hint = view.hint === null ? '' : `\n<p class="note">${sentence(view.hint)}</p>`
  const again =
    view.again === null ? '' : `\n<p><a href="${escapeHtml(view.again)}">Try again</a></p>`
  return documentOf(
    'Request refused',
    'pages.css',
    `<h1>This request cannot be completed</h1>
<p>${sentence(view.message)}</p>${hint}${again}`,
  )
}

/** Messages for clients end without a full stop, those for people with one. */
function sentence(text: string): string {
  return escapeHtml(text.replace(/\.?$/, '.'))
}
