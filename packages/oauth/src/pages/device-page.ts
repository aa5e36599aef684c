import { documentOf, escapeHtml } from '../http/document.ts'
import { BUTTONS, logoOf, notYou, originOf, readingOf, resourcesOf, scopesOf } from './approval.ts'
import type { DeviceAnswered, DeviceQuestion, DeviceView, UserCodeForm } from './pages.ts'

/** The three pages of the device flow (RFC 8628 §3.3): type a code, approve or deny, done. */
export function devicePage(view: DeviceView): string {
  switch (view.step) {
    case 'enter':
      return documentOf('Connect a device', 'pages.css', enter(view))
    case 'confirm':
      return documentOf('Approve a device', 'pages.css', confirm(view))
    case 'done':
      return documentOf('Device answered', 'pages.css', done(view))
  }
}

function enter({ userCode, problem, action, csrfToken }: UserCodeForm): string {
  const wrong =
    problem === null ? '' : `<p class="problem" role="alert">${escapeHtml(problem)}</p>\n`
  return `<h1>Connect a device</h1>
<p>Type the code that your device shows.</p>
${wrong}<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(csrfToken)}">
<label for="user_code">Code</label>
<input class="code" id="user_code" name="user_code" value="${escapeHtml(userCode)}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required>
<button class="primary">Continue</button>
</form>`
}

function confirm(view: DeviceQuestion): string {
  return `${logoOf(view)}<h1><bdi>${escapeHtml(view.client.name)}</bdi> on a device asks for access to your account</h1>
${originOf(view)}
<p>Your device shows this code:</p>
<p class="code">${escapeHtml(view.userCode)}</p>
<p class="warning">Approve only if you have started this yourself, on a device that is yours. If somebody sent you this code or a link to this page, deny it: they would get into your account.</p>
<form method="post" action="${escapeHtml(view.action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(view.csrfToken)}">
${resourcesOf(view)}${scopesOf(view.scopes)}${readingOf(view)}
${BUTTONS}
</form>
${notYou(view.otherAccount)}`
}

function done({ approved, client }: DeviceAnswered): string {
  const name = `<bdi>${escapeHtml(client.name)}</bdi>`
  return approved
    ? `<h1>You have approved ${name}</h1>\n<p>Go back to your device: it goes on by itself. You can close this page.</p>`
    : `<h1>You have denied ${name}</h1>\n<p>The device gets no access. You can close this page.</p>`
}
