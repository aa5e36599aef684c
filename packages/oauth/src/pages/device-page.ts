import { type Html, html } from '@tollgate/http'
import { renderDocument } from '../http/document.ts'
import { renderApprovalForm, renderClientName } from './approval.ts'
import type { PageText } from './messages/messages.ts'
import type { DeviceAnswered, DeviceQuestion, DeviceView, UserCodeForm } from './pages.ts'

/**
 * Renders the three pages of the device flow (RFC 8628 §3.3): enter the code, approve or deny,
 * done.
 */
export function renderDevicePage(view: DeviceView, t: PageText): string {
  const title = t(`device.${view.step}.title`)
  return renderDocument(
    { title, language: t.language, stylesheet: 'pages.css' },
    renderStep(view, t),
  )
}

function renderStep(view: DeviceView, t: PageText): Html {
  switch (view.step) {
    case 'enter':
      return renderCodeEntry(view, t)
    case 'confirm':
      return renderDeviceConfirmation(view, t)
    case 'done':
      return renderDeviceResult(view, t)
  }
}

function renderCodeEntry(
  { userCode, problem, action, csrfToken }: UserCodeForm,
  t: PageText,
): Html {
  const wrong = problem && html`<p class="problem" role="alert">${problem}</p>\n`
  return html`<h1>${t('device.enter.title')}</h1>
<p>${t('device.enter.text')}</p>
${wrong}<form method="post" action="${action}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<label for="user_code">${t('device.enter.label')}</label>
<input class="code" id="user_code" name="user_code" value="${userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required>
<button class="primary">${t('device.enter.button')}</button>
</form>`
}

function renderDeviceConfirmation(view: DeviceQuestion, t: PageText): Html {
  return renderApprovalForm(view, t, {
    heading: html`${t.parts('device.confirm.heading', { application: renderClientName(view) })}`,
    before: html`<p>${t('device.confirm.code')}</p>
<p class="code">${view.userCode}</p>
<p class="warning">${t('device.confirm.warning')}</p>\n`,
  })
}

function renderDeviceResult(view: DeviceAnswered, t: PageText): Html {
  const page = view.approved ? 'device.approved' : 'device.denied'
  const heading = html`${t.parts(`${page}.heading`, { application: renderClientName(view) })}`
  return html`<h1>${heading}</h1>\n<p>${t(`${page}.text`)}</p>`
}
