import { type RenderedMail, renderLetter } from '@tollgate/billing'
import { getSeller } from '../config/seller.ts'
import type { Settings } from '../config/settings.ts'
import type { PageText } from '../messages/messages.ts'

/** The kinds of mail about accounts. */
export const accountMailKinds = [
  'password_reset',
  'address_verification',
  'address_change',
  'registration',
  'invitation',
  'team_invitation',
  'already_registered',
  'password_changed',
  'address_change_requested',
  'address_changed',
  'address_confirmed',
  'sign_in_method_added',
  'sign_in_method_removed',
  'recovery_codes_created',
  'recovery_code_used',
  'quota_alert',
] as const

export type AccountMailKind = (typeof accountMailKinds)[number]

/** Data that a mail about an account contains. */
export interface AccountMailDetails {
  readonly settings: Settings
  /** Public base URL of the service. */
  readonly url: string
  /** The address of the account. */
  readonly email: string
  /**
   * Name of the person. `null` unless the address is verified: strangers must not be able to send
   * a text of their choice to an address that is not theirs.
   */
  readonly name: string | null
  /** URL of the link that works once. `null` if the mail has none. */
  readonly link: string | null
  /** Seconds for which the link works. */
  readonly lifetime: number
  /**
   * The other address of a change, the ways to sign in that changed or still work, the number of
   * recovery codes that are left, the inviter's address, or a share of a quota: `80 API calls`.
   */
  readonly other: string
}

/** The path of the page where people ask for a new password. */
export const FORGOT_PATH = '/recovery/forgot'

/** Renders a mail about an account, in the same look as the mail of billing. */
export function renderAccountMail(
  kind: AccountMailKind,
  details: AccountMailDetails,
  t: PageText,
): RenderedMail {
  const { name, settings } = details
  const { subject, paragraphs, button } = CONTENTS[kind](details, t)
  const { vendor, vendorDetails = [] } = getSeller(settings)
  const letter = {
    ...{ subject, paragraphs, button, rows: [] },
    greeting: name === null ? t('mail.hello') : t('mail.greeting', { name }),
    closing: t('mail.closing'),
    vendor: [vendor, ...vendorDetails],
  }
  return renderLetter(letter, t.language)
}

interface Content {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly button: { readonly label: string; readonly url: string } | null
}

type Compose = (details: AccountMailDetails, t: PageText) => Content

const CONTENTS: Readonly<Record<AccountMailKind, Compose>> = {
  password_reset: (details, t) => ({
    subject: t('mail.password_reset.subject', serviceOf(details)),
    paragraphs: [t('mail.password_reset.text', details), ...describeLink(details, t)],
    button: createLink(t('mail.choosePassword'), details),
  }),
  address_verification: (details, t) => ({
    subject: t('mail.address_verification.subject', serviceOf(details)),
    paragraphs: [t('mail.address_verification.text', details), ...describeLink(details, t)],
    button: createLink(t('mail.address_verification.button'), details),
  }),
  address_change: (details, t) => ({
    subject: t('mail.address_change.subject', serviceOf(details)),
    paragraphs: [
      t('mail.address_change.text', { ...details, ...serviceOf(details) }),
      ...describeLink(details, t),
    ],
    button: createLink(t('mail.address_verification.button'), details),
  }),
  registration: (details, t) => ({
    subject: t('mail.registration.subject', serviceOf(details)),
    paragraphs: [
      t('mail.registration.text', { ...details, ...serviceOf(details) }),
      ...describeLink(details, t),
    ],
    button: createLink(t('mail.registration.button'), details),
  }),
  invitation: (details, t) => ({
    subject: t('mail.invitation.subject', serviceOf(details)),
    paragraphs: [
      t('mail.invitation.text', { ...details, ...serviceOf(details) }),
      describeLifetime(details, t),
    ],
    button: createLink(t('mail.invitation.button'), details),
  }),
  // Without the name of the team, which is a text of a stranger's choice.
  team_invitation: (details, t) => ({
    subject: t('mail.team_invitation.subject', serviceOf(details)),
    paragraphs: [
      t('mail.team_invitation.text', {
        email: details.email,
        inviter: details.other,
        ...serviceOf(details),
      }),
      describeLifetime(details, t),
      t('mail.team_invitation.ignore'),
    ],
    button: createLink(t('mail.invitation.button'), details),
  }),
  already_registered: (details, t) => ({
    subject: t('mail.already_registered.subject', serviceOf(details)),
    paragraphs: [
      t('mail.already_registered.text', { ...details, ...serviceOf(details) }),
      t('mail.ignore'),
    ],
    button: { label: t('mail.already_registered.button'), url: `${details.url}/login` },
  }),
  password_changed: (details, t) => ({
    subject: t('mail.password_changed.subject', serviceOf(details)),
    paragraphs: [
      t('mail.password_changed.text', details),
      ...(details.other === '' ? [] : [t('mail.password_changed.others', details)]),
      t('mail.password_changed.notYou'),
    ],
    button: createForgot(details, t),
  }),
  address_change_requested: (details, t) => ({
    subject: t('mail.address_change_requested.subject', serviceOf(details)),
    paragraphs: [
      t('mail.address_change_requested.text', details),
      t('mail.address_change_requested.notYou'),
    ],
    button: createForgot(details, t),
  }),
  address_changed: (details, t) => ({
    subject: t('mail.address_changed.subject', serviceOf(details)),
    paragraphs: [
      t('mail.address_changed.text', details),
      t('mail.address_changed.notYou', {
        contact: details.settings.support ?? t('mail.operator', serviceOf(details)),
      }),
    ],
    button: null,
  }),
  address_confirmed: (details, t) => ({
    subject: t('mail.address_confirmed.subject', serviceOf(details)),
    paragraphs: [t('mail.address_confirmed.text', { ...details, ...serviceOf(details) })],
    button: null,
  }),
  sign_in_method_added: (details, t) => ({
    subject: t('mail.sign_in_method_added.subject', serviceOf(details)),
    paragraphs: [
      t('mail.sign_in_method_added.text', { email: details.email, method: details.other }),
      t('mail.notYou'),
    ],
    button: createForgot(details, t),
  }),
  sign_in_method_removed: (details, t) => ({
    subject: t('mail.sign_in_method_removed.subject', serviceOf(details)),
    paragraphs: [
      t('mail.sign_in_method_removed.text', { email: details.email, method: details.other }),
      t('mail.notYou'),
    ],
    button: createForgot(details, t),
  }),
  recovery_codes_created: (details, t) => ({
    subject: t('mail.recovery_codes_created.subject', serviceOf(details)),
    paragraphs: [t('mail.recovery_codes_created.text', details), t('mail.notYou')],
    button: createForgot(details, t),
  }),
  recovery_code_used: (details, t) => ({
    subject: t('mail.recovery_code_used.subject', serviceOf(details)),
    paragraphs: [
      t('mail.recovery_code_used.text', details),
      t('mail.recovery_code_used.left', { count: Number(details.other) }),
      t('mail.notYou'),
    ],
    button: createForgot(details, t),
  }),
  quota_alert: (details, t) => ({
    subject: t('mail.quota_alert.subject', describeAlert(details)),
    paragraphs: [
      t(
        describeAlert(details).percent >= 100 ? 'mail.quota_alert.usedUp' : 'mail.quota_alert.text',
        { ...describeAlert(details), ...serviceOf(details) },
      ),
    ],
    button: { label: t('mail.quota_alert.button'), url: `${details.url}/billing` },
  }),
}

function describeAlert({ other }: AccountMailDetails) {
  const [percent = '', ...name] = other.split(' ')
  return { percent: Number(percent), name: name.join(' ') }
}

const serviceOf = ({ settings }: AccountMailDetails) => ({ service: settings.name })

const describeLink = (details: AccountMailDetails, t: PageText) => [
  describeLifetime(details, t),
  t('mail.ignore'),
]

const DAY = 24 * 3600

function describeLifetime({ lifetime }: AccountMailDetails, t: PageText): string {
  if (lifetime < 2 * 3600) return t('mail.lasts.minutes', { count: Math.round(lifetime / 60) })
  if (lifetime < 2 * DAY) return t('mail.lasts.hours', { count: Math.round(lifetime / 3600) })
  return t('mail.lasts.days', { count: Math.round(lifetime / DAY) })
}

const createLink = (label: string, { link }: AccountMailDetails) =>
  link === null ? null : { label, url: link }

const createForgot = ({ url }: AccountMailDetails, t: PageText) => ({
  label: t('mail.choosePassword'),
  url: url + FORGOT_PATH,
})
