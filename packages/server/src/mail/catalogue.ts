import {
  type Billing,
  type MailDetails,
  type MailKind,
  mailKinds,
  mailLanguages,
  money,
  type RenderedMail,
  renderMail,
} from '@tollgate/billing'
import { getSeller } from '../config/seller.ts'
import type { Settings } from '../config/settings.ts'
import { textFor } from '../messages/messages.ts'
import { type AccountMailKind, accountMailKinds, renderAccountMail } from './account-mail.ts'

/** The parts of the service that are needed to render an example of a mail. */
export interface ExampleContext {
  readonly settings: Settings
  readonly billing: Pick<Billing, 'notices'>
  /** Public base URL of the service. */
  readonly url: string
}

/** Renders an example of a mail in a language. */
export type RenderExample = (language: string, context: ExampleContext) => RenderedMail

/** The languages that mail is written in, by code. */
export const MAIL_LANGUAGES = mailLanguages

/** Every kind of mail that the service sends. The preview shows an example of each. */
export const EXAMPLE_MAILS: ReadonlyMap<ServiceMailKind, RenderExample> = new Map([
  ...mailKinds.map((kind) => [kind, createBillingExample(kind)] as const),
  ...accountMailKinds.map((kind) => [kind, createAccountExample(kind)] as const),
])

/** The kinds of mail of the service. */
export type ServiceMailKind = MailKind | AccountMailKind

/** Whether a text names a kind of mail. */
export const isMailKind = (text: string): text is ServiceMailKind =>
  (EXAMPLE_MAILS as ReadonlyMap<string, unknown>).has(text)

/** Values that the examples of mail name. Kinds that are missing here name an address. */
const EXAMPLES: Partial<Record<AccountMailKind, string>> = {
  password_changed: 'Passkey',
  sign_in_method_added: 'Passkey',
  sign_in_method_removed: 'Passkey',
  recovery_code_used: '9',
  quota_alert: '80 API calls',
}

function createAccountExample(kind: AccountMailKind): RenderExample {
  return (language, { settings, url }) =>
    renderAccountMail(
      kind,
      {
        ...{ settings, url },
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        link: `${url}/recovery`,
        lifetime: kind === 'invitation' || kind === 'team_invitation' ? 7 * 86_400 : 1800,
        other: EXAMPLES[kind] ?? 'ada.lovelace@example.org',
      },
      textFor([language]),
    )
}

function createBillingExample(kind: MailKind): RenderExample {
  return (language, { settings, billing: { notices }, url }) => {
    const { vendor, vendorDetails, product } = getSeller(settings)
    const details: MailDetails = {
      ...{ vendor, vendorDetails, product },
      name: 'Ada Lovelace',
      amount: money(2500, settings.currency),
      number: 'TG-0001',
      date: new Date('2026-03-01T00:00:00Z'),
      card: 'Visa 4242',
      month: '2027-04',
      isBilledAfterwards: true,
      url: `${url}/billing`,
    }
    // The queue knows the texts of the setting `mail.words`.
    return notices?.render(kind, details, language) ?? renderMail(kind, details, language)
  }
}
