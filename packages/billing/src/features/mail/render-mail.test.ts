import { describe, expect, it } from 'vitest'
import { money } from '../../core/values/money.ts'
import { findLanguageWords, PHRASES_BY_LANGUAGE } from '../../core/words/all.ts'
import type { MailKind } from '../../core/words/words.ts'
import { type MailDetails, renderMail } from './render-mail.ts'

const KINDS: readonly MailKind[] = [
  'receipt',
  'payment_failed',
  'action_required',
  'trial_ending',
  'card_expiring',
  'refunded',
]

const facts: MailDetails = {
  vendor: 'Example Ltd',
  product: 'Gold',
  name: 'Ada',
  amount: money(1999, 'eur'),
  number: 'TG-0001',
  date: new Date('2026-03-01T00:00:00Z'),
  card: 'Visa 4242',
  month: '2027-04',
  isBilledAfterwards: true,
  url: 'https://app.example.com/billing',
}

/** Lists placeholders such as `{name}`, sorted. */
const placesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()

describe('the texts of mail and invoices', () => {
  it.each(Object.keys(PHRASES_BY_LANGUAGE))(
    'exist in the language %s, with the same placeholders as in English',
    (code) => {
      const [words, en] = [findLanguageWords(code), findLanguageWords('en')]
      expect(Object.keys(words.invoice).sort()).toEqual(Object.keys(en.invoice).sort())
      expect(placesOf(words.invoice.page)).toEqual(['{page}', '{pages}'].sort())
      expect(Object.keys(words.mail).sort()).toEqual(Object.keys(en.mail).sort())
      for (const [name, english] of Object.entries(en.mail)) {
        const said = words.mail[name as keyof typeof en.mail]
        const both = [said, english].map((each) =>
          placesOf(typeof each === 'string' ? each : `${each.subject}${each.text}`),
        )
        expect(both[0], name).toEqual(both[1])
        expect(JSON.stringify(said)).not.toMatch(/""/)
      }
    },
  )

  it('exist in 13 languages', () => {
    expect(new Set(Object.values(PHRASES_BY_LANGUAGE)).size).toBe(13)
  })
})

describe('rendered mail', () => {
  const all = Object.keys(PHRASES_BY_LANGUAGE).flatMap((locale) =>
    KINDS.map((kind) => [kind, locale] as const),
  )

  it.each(all)('is complete (kind: %s, language: %s)', (kind, locale) => {
    const { subject, text, html } = renderMail(kind, facts, locale)
    for (const part of [subject, text, html]) {
      expect(part).not.toMatch(/\{\w+\}|undefined|null/)
    }
    expect(subject).not.toContain('\n')
    expect(html).toContain(`<title>${subject.replaceAll("'", '&#39;')}</title>`)
  })

  it('formats amounts, days and months by locale', () => {
    const textOf = (kind: MailKind, locale: string) => renderMail(kind, facts, locale).text
    expect(textOf('receipt', 'en')).toContain('€19.99')
    expect(textOf('receipt', 'de')).toContain('19,99')
    expect(textOf('trial_ending', 'fr')).toContain('1 mars 2026')
    expect(textOf('card_expiring', 'pl')).toContain('kwiecień 2027')
    expect(renderMail('receipt', facts, 'ar').html).toContain('dir="rtl"')
  })

  it('escapes customers’ names in HTML, headers and placeholders', () => {
    const name = 'Eve\r\nBcc: a@b.example {vendor} <img src=x> \u202E'
    const { subject, text, html } = renderMail(
      'refunded',
      { ...facts, name, vendor: 'A & B\n<c>' },
      'en',
    )
    expect(subject).toBe('Your refund from A & B <c>')
    expect(text).toContain('Hello Eve Bcc: a@b.example {vendor} <img src=x>,')
    expect(text).not.toContain('\u202E')
    expect(html).not.toContain('<img')
    expect(html).not.toContain('<c>')
  })

  it('contains links to http and https URLs only', () => {
    const at = (url: string) => renderMail('card_expiring', { ...facts, url }, 'en').html
    expect(at('https://app.example.com/"x')).toContain('href="https://app.example.com/%22x"')
    expect(at('javascript:alert(1)')).not.toContain('href')
  })

  it('uses the application’s own texts if they are given', () => {
    const own = { closing: 'Yours', refunded: { subject: 'Back', text: 'You got {amount}.' } }
    const { subject, text } = renderMail('refunded', { ...facts, name: null }, 'en', own)
    expect(subject).toBe('Back')
    expect(text).toBe(
      'Hello,\n\nYou got €19.99.\n\nNumber: TG-0001\nTotal: €19.99\n\nYours\nExample Ltd',
    )
  })
})
