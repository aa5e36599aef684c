import { type Html, html } from '@tollgate/http'
import { renderDocument } from '../http/document.ts'
import { renderApprovalForm, renderClientName } from './approval.ts'
import type { PageText } from './messages/messages.ts'
import type { ConsentView } from './pages.ts'

/**
 * Warns that the response goes to a program on the person's own computer, and that the server
 * cannot know which program listens there (MCP; Client ID Metadata Document §6).
 */
function renderOwnComputerWarning({ toOwnComputer }: ConsentView, t: PageText): Html | null {
  if (!toOwnComputer) return null
  const place = html`<strong>${t('approve.ownComputer.place')}</strong>`
  return html`<p class="warning">${t.parts('approve.ownComputer', { place })}</p>\n`
}

function renderProgramWarning({ opensProgram }: ConsentView, t: PageText): Html | null {
  if (opensProgram === null) return null
  const scheme = html`<strong>${opensProgram}</strong>`
  return html`<p class="warning">${t.parts('approve.program', { scheme })}</p>\n`
}

/** Renders the approval screen. */
export function renderConsentPage(view: ConsentView, t: PageText): string {
  const stylesheet = view.action.replace(/\/authorize\?.*$/, '/pages.css')
  const destination = html`<strong>${view.destination}</strong>`
  return renderDocument(
    { title: t('approve.title'), language: t.language, stylesheet },
    renderApprovalForm(view, t, {
      heading: html`${t.parts('approve.heading', { application: renderClientName(view) })}`,
      after: html`${renderOwnComputerWarning(view, t)}${renderProgramWarning(view, t)}<p class="note">${t.parts('approve.destination', { destination })}</p>\n`,
    }),
  )
}
