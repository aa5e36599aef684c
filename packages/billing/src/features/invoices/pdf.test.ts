import { describe, expect, it } from 'vitest'
import { extractPdfText } from '../../../test/read-pdf.ts'
import { money } from '../../core/values/money.ts'
import { buildPdfFileName, respondWithInvoice } from './download.ts'
import { Invoice, type InvoiceData } from './invoice.ts'
import { renderCreditNote, renderInvoice } from './pdf.ts'

const day = (text: string) => new Date(`${text}T00:00:00Z`)

function sample(change: Partial<InvoiceData> = {}): InvoiceData {
  return {
    id: 'in_1',
    provider: 'stripe',
    number: 'TG-0001',
    date: day('2026-03-01'),
    paid: true,
    currency: 'eur',
    customer: { name: 'Zażółć Gęślą Ωμέγα Иванова', email: 'ada@example.com' },
    lines: [
      {
        description: '2 × Gold (at €10.00 / month)',
        amount: 2000,
        quantity: 2,
        period: { start: day('2026-03-01'), end: day('2026-04-01') },
      },
      { description: 'Setup', amount: 550, quantity: 1, period: null },
    ],
    subtotal: 2550,
    discounts: [{ name: 'SPRING', percentOff: 10, amount: 255 }],
    taxes: [{ percentage: '19.25', amount: 442, inclusive: false }],
    total: 2737,
    startingBalance: -500,
    amountDue: 2237,
    raw: null,
    ...change,
  }
}

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const seller = { vendor: 'Tollgate Ltd', product: 'Gold' }

/** Number of pages in an uncompressed page tree. */
const pagesOf = (pdf: Uint8Array) =>
  Buffer.from(pdf)
    .toString('latin1')
    .match(/\/Type \/Page\b/g)?.length

describe('an invoice as PDF', () => {
  it('has the same bytes each time it is created', async () => {
    const first = await renderInvoice(sample(), seller)
    const second = await renderInvoice(sample(), seller)
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true)
    expect(Buffer.from(first.subarray(0, 5)).toString()).toBe('%PDF-')
    expect(pagesOf(first)).toBe(1)
    const other = await renderInvoice(sample({ number: 'TG-0002' }), seller)
    expect(Buffer.from(first).equals(Buffer.from(other))).toBe(false)
  })

  it('continues on further pages if it is long', async () => {
    const line = { description: 'Hour of advice', amount: 100, quantity: 1, period: null }
    const lines = Array.from({ length: 120 }, () => line)
    const pdf = await renderInvoice(sample({ lines, subtotal: 12_000 }), seller)
    expect(pagesOf(pdf)).toBeGreaterThan(2)
  })

  it.each(['jpy', 'kwd', 'inr', 'pln'])('prints amounts in %s', async (currency) => {
    expect(pagesOf(await renderInvoice(sample({ currency }), seller))).toBe(1)
  })

  it.each([
    ['en-US', ['Receipt', 'Date Mar 1, 2026', 'Discount (SPRING, 10%)', 'Tax (19.25%)', '€27.37']],
    ['de-DE', ['Quittung', 'Datum 01.03.2026', 'Rabatt (SPRING, 10 %)', 'Steuer (19,25 %)']],
    ['fr-FR', ['Reçu', 'Date 1 mars 2026', 'Remise (SPRING, 10 %)', 'Total', '27,37 €']],
    ['pl-PL', ['Potwierdzenie\nzapłaty', 'Zapłacono ze środków', 'Razem']],
    ['xx', ['Receipt', 'Billed to']],
  ])('is written in the language of the locale %s', async (locale, expected) => {
    const customer = { name: 'Ada', email: null }
    const text = extractPdfText(await renderInvoice(sample({ customer }), { ...seller, locale }))
    for (const words of expected) expect(text).toContain(words)
  })

  it('uses the application’s own texts if they are given', async () => {
    const words = { receipt: 'Paid invoice' }
    const text = extractPdfText(await renderInvoice(sample(), { ...seller, words }))
    expect(text).toContain('Paid invoice')
    expect(text).not.toContain('Receipt')
    expect(text).toContain('Billed to')
  })

  it('prints right-to-left names correctly, including brackets', async () => {
    const customer = { name: 'דנה (בע״מ)', email: null }
    // In drawing order, from the left: the opening bracket is on the right.
    expect(extractPdfText(await renderInvoice(sample({ customer }), seller))).toContain(
      '(מ״עב) הנד',
    )
  })

  it('has a mirrored layout in right-to-left locales', async () => {
    const of = async (locale: string) =>
      extractPdfText(await renderInvoice(sample(), { ...seller, locale }))
    expect(await of('he-IL')).toContain('הלבק\nTG-0001 רפסמ\n')
    expect(await of('ar-EG')).toContain('€ ٢٧٫٣٧')
  })

  it.each([
    ['en-GB', 'Tax ID FR123', 'Reverse charge'],
    ['de-DE', 'USt-IdNr. FR123', 'Steuerschuldnerschaft des Leistungsempfängers'],
    ['nl-NL', 'Btw-nummer FR123', 'Btw verlegd'],
  ])(
    'states that the customer owes the tax (reverse charge), in the language of %s',
    async (locale, taxId, note) => {
      const business = { ...sample(), customerTaxIds: ['FR123'], reverseCharge: true }
      const text = extractPdfText(await renderInvoice(business, { ...seller, locale }))
      expect(text).toContain(taxId)
      expect(text).toContain(note)
      expect(extractPdfText(await renderInvoice(sample(), { ...seller, locale }))).not.toContain(
        note,
      )
    },
  )

  it('contains the legally required information: addresses, tax ids, and the seller in the footer of each page', async () => {
    const customer = {
      name: 'Ada',
      email: null,
      address: ['Hauptstraße 1', '10115 Berlin', 'DE'],
    }
    const customerTaxIds = ['DE123456789']
    const line = { description: 'Hour of advice', amount: 100, quantity: 1, period: null }
    const lines = Array.from({ length: 60 }, () => line)
    const legal = ['Registered in England 01234567', 'Directors: C. Babbage']
    const print = async (more: object) => {
      const data = sample({ customer, customerTaxIds, lines, reverseCharge: true })
      return extractPdfText(await renderInvoice(data, { ...seller, legal, locale: 'de', ...more }))
    }
    const text = await print({})
    for (const words of [
      'Hauptstraße 1',
      'Deutschland',
      'USt-IdNr. DE123456789',
      'Steuerschuldnerschaft des Leistungsempfängers',
    ]) {
      expect(text).toContain(words)
    }
    expect(text.split('Directors: C. Babbage').length - 1).toBe(text.split('von 3').length - 1)
    // The application's customer details replace the provider's address.
    const own = await print({ customerDetails: ['Elsewhere'] })
    expect(own).toContain('Elsewhere')
    expect(own).not.toContain('Hauptstraße')
  })

  it('shows a logo, and still has the same bytes each time', async () => {
    const [first, second] = await Promise.all([
      renderInvoice(sample(), { ...seller, logo: PIXEL }),
      renderInvoice(sample(), { ...seller, logo: PIXEL }),
    ])
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true)
    expect(Buffer.from(first).toString('latin1')).toContain('/Subtype /Image')
    expect(pagesOf(first)).toBe(1)
  })

  it.each(['de', 'en', 'ar'])(
    'prints the whole title of a credit note in the language %s',
    async (locale) => {
      const { customer: _, paid, startingBalance, amountDue, ...same } = sample()
      const note = {
        ...same,
        customer: { name: 'Ada', email: null },
        id: 'cn_1',
        number: 'TG-0001-CN-01',
        invoice: 'in_1',
        invoiceNumber: 'TG-0001',
        givenBack: { refunded: 2000, toBalance: 737, outside: 0 },
        reason: null,
        memo: 'As agreed',
        isVoid: false,
      }
      const text = extractPdfText(await renderCreditNote(note, { ...seller, locale }))
      expect(text).toContain('As agreed')
      const expected = {
        de: ['\nRechnungskorrektur\n', 'Zur Rechnung TG-0001\n', 'Erstattet', '20,00 €'],
        en: ['\nCredit note\n', 'For invoice TG-0001\n', 'Added to your credit', '€7.37'],
        ar: ['TG-0001-CN-01'],
      }[locale]
      for (const words of expected ?? []) expect(text).toContain(words)
    },
  )

  it('cannot be created without a vendor', () => {
    expect(() => renderInvoice(sample(), { vendor: '', product: 'Gold' })).toThrow(/vendor/)
  })

  it('is downloaded under a file name with the product, month and year', async () => {
    const { headers, status } = await respondWithInvoice(new Invoice(sample()), seller)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': expect.stringContaining('attachment; filename="Gold_3_2026.pdf"'),
    })
  })

  it.each([
    ['Gold Plan', 'Gold_Plan_3_2026.pdf'],
    ['../../etc/passwd', 'etc_passwd_3_2026.pdf'],
    ['a"\r\nSet-Cookie: x', 'a_Set-Cookie_x_3_2026.pdf'],
    ['', 'invoice_3_2026.pdf'],
    ['Żółw', 'Żółw_3_2026.pdf'],
  ])('has a safe file name for the product name %j', (product, expected) => {
    expect(buildPdfFileName(product, day('2026-03-01'))).toBe(expected)
  })

  it('can be created from an invoice with formatted totals, such as €27.37, and a Date', () => {
    const invoice = new Invoice(sample())
    expect(invoice.total()).toBe('€27.37')
    expect(invoice.subtotal()).toBe('€25.50')
    expect(invoice.tax()).toBe('€4.42')
    expect(invoice.date()).toEqual(day('2026-03-01'))
  })

  it('can be created from an invoice whose amounts are also available as integers with a currency', () => {
    const { amounts } = new Invoice(sample())
    expect(amounts).toEqual({
      subtotal: money(2550, 'eur'),
      discount: money(255, 'eur'),
      tax: money(442, 'eur'),
      total: money(2737, 'eur'),
      startingBalance: money(-500, 'eur'),
      amountDue: money(2237, 'eur'),
    })
  })
})
