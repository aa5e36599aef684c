import { documentOf, escapeHtml } from '../http/document.ts'
import { BUTTONS, logoOf, notYou, originOf, readingOf, resourcesOf, scopesOf } from './approval.ts'
import type { ConsentView } from './pages.ts'

/** MCP, and Client ID Metadata Document §6: nobody can tell which program listens there. */
function ownComputer({ toOwnComputer }: ConsentView): string {
  if (!toOwnComputer) return ''
  return '<p class="warning">The answer goes to a program on <strong>your own computer</strong>, and any program there can ask in this name. Approve only if you have just started it yourself.</p>\n'
}

function program({ opensProgram }: ConsentView): string {
  if (opensProgram === null) return ''
  return `<p class="warning">The answer opens the program on your device that handles <strong>${escapeHtml(opensProgram)}</strong> links, and any program can claim these. Approve only if you have just started it yourself.</p>\n`
}

/** Asks a person to approve or deny what an application wants. */
export function consentPage(view: ConsentView): string {
  const name = `<bdi>${escapeHtml(view.client.name)}</bdi>`
  return documentOf(
    'Approve access',
    view.action.replace(/\/authorize\?.*$/, '/pages.css'),
    `${logoOf(view)}<h1>${name} asks for access to your account</h1>
${originOf(view)}
<form method="post" action="${escapeHtml(view.action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(view.csrfToken)}">
${resourcesOf(view)}${scopesOf(view.scopes)}${readingOf(view)}
${ownComputer(view)}${program(view)}<p class="note">Either way you will be sent to <strong>${escapeHtml(view.destination)}</strong>.</p>
${BUTTONS}
</form>
${notYou(view.otherAccount)}`,
  )
}
