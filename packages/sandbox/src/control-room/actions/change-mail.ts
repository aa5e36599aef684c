import type { MailFault, SandboxMailbox } from '../../mail/mailbox.ts'
import type { ControllableSandbox } from '../story/observed-sandbox.ts'
import { type ControlAction, readWholeNumber } from './action.ts'

/** Ways in which the mail server can fail, with their labels on the page of the control room. */
export const MAIL_FAILURES = {
  none: { name: 'No failure', help: 'accepts all mail' },
  away: { name: 'Away', help: 'closes each connection at once' },
  busy: { name: 'Busy', help: 'refuses each recipient with 451; the mail can be sent again' },
  'unknown-recipient': { name: 'Unknown recipient', help: 'refuses each recipient with 550' },
  'refused-content': { name: 'Refused content', help: 'refuses each mail with 554' },
  'lost-response': { name: 'Lost response', help: 'accepts the mail, but sends no response' },
  slow: { name: 'Three seconds late', help: 'accepts the mail; the response is late' },
} as const

function requireMailbox({ mail }: ControllableSandbox): SandboxMailbox {
  if (mail) return mail
  throw new RangeError('No mail server was started in this sandbox.')
}

export const deleteMail: ControlAction = (_form, controls) => {
  requireMailbox(controls).deleteAll()
  return { message: 'All mail was deleted.', data: {} }
}

/**
 * Handles the form that makes the mail server fail: for the next `count` mails, or until the form
 * is submitted again if `count` is 0 or empty.
 */
export const failMail: ControlAction = (form, controls) => {
  const mail = requireMailbox(controls)
  const kind = form.get('kind') ?? 'none'
  if (!Object.hasOwn(MAIL_FAILURES, kind))
    throw new RangeError(`There is no failure called ${kind}`)
  const count = readWholeNumber(form, 'count', 0)
  if (kind === 'none') mail.recover()
  else mail.fail(toFault(kind), count === 0 ? undefined : count)
  return { message: 'The settings of the mail server were changed.', data: { fault: mail.fault() } }
}

const toFault = (kind: string): MailFault =>
  kind === 'slow' ? { slowMs: 3000 } : (kind as Exclude<MailFault, object>)
