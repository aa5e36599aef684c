import { formatMessage, html, isRightToLeft } from '@tollgate/http'
import { omitUndefined } from '../../core/values/arguments.ts'
import { requireLocale } from '../../core/values/locale.ts'
import { formatMoney, type Money } from '../../core/values/money.ts'
import { findLanguageWords } from '../../core/words/all.ts'
import type { MailKind, MailWords } from '../../core/words/words.ts'

/** Data that a mail contains. Fields that this kind of mail does not need may be missing. */
export interface MailDetails {
  /** Name of the seller. */
  readonly vendor: string
  /** Lines below the seller: address, contact. */
  readonly vendorDetails?: readonly string[] | undefined
  /** Name of the product. */
  readonly product: string
  /** Name of the customer. `null` if unknown. */
  readonly name?: string | null
  /** Amount that was paid, is owed, or was refunded. */
  readonly amount?: Money
  /** Number of the invoice. `null` if the invoice has none. */
  readonly number?: string | null
  /**
   * Date that the mail mentions: of the payment, of the next payment attempt, or of the end of the
   * trial.
   */
  readonly date?: Date | null
  /** Brand and last four digits of the card, such as `Visa 4242`. */
  readonly card?: string
  /** Month in which the card expires, such as `2027-04`. */
  readonly month?: string
  /** Whether a subscription follows the trial. `false` for a trial without a subscription. */
  readonly isBilledAfterwards?: boolean
  /** URL of the button in the mail. `null` or left out for no button. */
  readonly url?: string | null
}

/** The content of a mail. */
export interface RenderedMail {
  /** The subject line of the mail. */
  readonly subject: string
  /** The content as plain text. */
  readonly text: string
  /** The content as a complete HTML page. */
  readonly html: string
}

/** Renders mail from its data. The same data always results in the same mail. */
export function renderMail(
  kind: MailKind,
  facts: MailDetails,
  locale: string,
  customWords: Partial<MailWords> = {},
): RenderedMail {
  const tag = requireLocale('locale', locale)
  const all = findLanguageWords(tag)
  const words: MailWords = { ...all.mail, ...omitUndefined(customWords) }
  const values = valuesOf(facts, tag)
  const fill = (text: string) => formatMessage(text, values, tag).join('')
  const subject = fill(words[kind].subject)
  const greeting = facts.name ? fill(words.greeting) : words.hello
  const { number, date, amount } = facts
  const isReceipt = kind === 'receipt'
  const rows: [string, string][] = [
    ...(number ? [[all.invoice.number, number] as [string, string]] : []),
    ...(isReceipt && date ? [[all.invoice.date, values.date] as [string, string]] : []),
    ...(number && amount ? [[all.invoice.total, values.amount] as [string, string]] : []),
  ]
  const paragraphs = [words[kind].text, ...listExtraParagraphs(kind, facts, words)].map(fill)
  const label = chooseButtonLabel(kind, words)
  const url = label === null ? null : safeUrl(facts.url)
  const button = label !== null && url !== null ? { label, url } : null
  const { closing } = words
  const vendor = [values.vendor, ...(facts.vendorDetails ?? []).map(oneLine)]
  return renderLetter({ subject, greeting, paragraphs, rows, button, closing, vendor }, tag)
}

/** The parts of a mail, as plain text in the language of the mail. */
export interface MailLetter {
  /** The subject line, which is also the heading of the HTML page. */
  readonly subject: string
  /** The first line, in which the customer is greeted. */
  readonly greeting: string
  /** The paragraphs of the text. */
  readonly paragraphs: readonly string[]
  /** Label and value of each row of the table below the text. */
  readonly rows: readonly (readonly [string, string])[]
  /** The button below the text. `null` if there is none. */
  readonly button: { readonly label: string; readonly url: string } | null
  /** The last line, above the name of the sender. */
  readonly closing: string
  /** Name of the seller, and the lines below it. */
  readonly vendor: readonly string[]
}

/**
 * Lays out a mail of your application in the same way as the mail of billing, as plain text and as
 * HTML. All parts are escaped.
 */
export function renderLetter(letter: MailLetter, locale: string): RenderedMail {
  const tag = requireLocale('locale', locale)
  const subject = oneLine(letter.subject)
  const safe = { ...letter, subject, vendor: letter.vendor.map(oneLine) }
  return { subject, text: renderPlainText(safe), html: renderHtmlMail(safe, tag) }
}

function listExtraParagraphs(
  kind: MailKind,
  { date, isBilledAfterwards }: MailDetails,
  words: MailWords,
): string[] {
  if (kind === 'payment_failed') return [date ? words.triedAgain : words.lastAttempt]
  if (kind !== 'trial_ending') return []
  return [isBilledAfterwards ? words.subscriptionFollows : words.noSubscription]
}

function chooseButtonLabel(kind: MailKind, words: MailWords): string | null {
  if (kind === 'payment_failed' || kind === 'card_expiring') return words.changeMethod
  if (kind === 'action_required') return words.confirm
  return kind === 'trial_ending' ? words.manage : null
}

type Values = Readonly<
  Record<'vendor' | 'product' | 'name' | 'amount' | 'date' | 'month' | 'card', string>
>

function valuesOf(facts: MailDetails, locale: string): Values {
  const { vendor, product, name, amount, date, month, card } = facts
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  const months = new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  })
  return {
    vendor: oneLine(vendor),
    product: oneLine(product),
    name: oneLine(name ?? ''),
    amount: amount ? formatMoney(amount, locale) : '',
    date: date ? days.format(date) : '',
    month: month ? months.format(new Date(`${month}-01T00:00:00Z`)) : '',
    card: oneLine(card ?? ''),
  }
}

/**
 * Removes control and direction characters from customers' names, which could add headers or
 * reverse the text.
 */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200)
}

function safeUrl(url: string | null | undefined): string | null {
  if (!url || !URL.canParse(url)) return null
  const parsed = new URL(url)
  return /^https?:$/.test(parsed.protocol) ? parsed.href : null
}

function renderPlainText({
  greeting,
  paragraphs,
  rows,
  button,
  closing,
  vendor,
}: MailLetter): string {
  return [
    greeting,
    ...paragraphs,
    ...(rows.length > 0 ? [rows.map(([label, value]) => `${label}: ${value}`).join('\n')] : []),
    ...(button ? [`${button.label}: ${button.url}`] : []),
    [closing, ...vendor].join('\n'),
  ].join('\n\n')
}

/** Renders the page with inline styles, because mail programs drop all others. */
function renderHtmlMail(letter: MailLetter, locale: string): string {
  const { subject, greeting, paragraphs, rows, button, closing, vendor } = letter
  const isRtl = isRightToLeft(locale)
  const cell = (text: string, align: string) =>
    html`<td style="padding:6px 0;border-top:1px solid #e5e5e5;text-align:${align}"><bdi>${text}</bdi></td>`
  const [near, far] = isRtl ? ['right', 'left'] : ['left', 'right']
  const table = rows.map(([label, value]) => html`<tr>${cell(label, near)}${cell(value, far)}</tr>`)
  const paragraph = (text: string) => html`<p style="margin:0 0 16px">${text}</p>\n`
  return html`<!doctype html>
<html lang="${locale}" dir="${isRtl ? 'rtl' : 'ltr'}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;background:#f4f4f5;color:#18181b;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 16px">
<div style="background:#ffffff;border-radius:8px;padding:32px">
<h1 style="margin:0 0 24px;font-size:22px;line-height:1.3">${subject}</h1>
${[greeting, ...paragraphs].map(paragraph)}${table.length > 0 && html`<table role="presentation" style="width:100%;border-collapse:collapse;margin:0 0 24px">${table}</table>`}
${button && html`<p style="margin:24px 0"><a href="${button.url}" style="display:inline-block;background:#1d4ed8;color:#ffffff;padding:12px 20px;border-radius:6px;text-decoration:none">${button.label}</a></p>`}
<p style="margin:24px 0 0">${closing}${vendor.map((line) => html`<br>${line}`)}</p>
</div>
</div>
</body>
</html>
`.text
}
