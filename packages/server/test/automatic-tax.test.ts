import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newPerson } from './billing-person.ts'
import { startTestService, type TestService } from './support.ts'

const BERLIN = { line1: 'Mill Lane 1', postal_code: '10115', city: 'Berlin', country: 'DE' }
/** 19 % of 25.00. */
const TAX = { amount: 475, currency: 'usd' }

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: { tax: 'automatic' } })
})
afterAll(() => service?.stop())

/** A person who pays through Stripe on the billing page. */
async function payer() {
  const person = await newPerson(service)
  const { id = '' } = (await service.users.findByEmail(person.email)) ?? {}
  const order = { provider: 'stripe', plan: 'pro', token: 'pm_card_visa' }
  return {
    ...person,
    order,
    billable: () => service.billing.user(Number(id)),
    /** The texts of the page that shows the price of the plan. */
    async price() {
      const { html } = await person.refused('/billing/price', order)
      const shown = /name="shown" value="([^"]*)"/.exec(html)?.[1] ?? ''
      const button = /data-pay.*?<button class="primary"[^>]*>([^<]*)</s.exec(html)?.[1] ?? ''
      return { html, button, shown: shown.replaceAll('&quot;', '"') }
    },
  }
}

describe("the billing page with tax: 'automatic', which means Stripe Tax,", () => {
  it('charges the tax of the address, and shows it before the payment, on the page and on the invoice', async () => {
    const ada = await payer()
    await (await ada.billable()).updateCard('pm_card_visa')
    await ada.done('/billing/address', BERLIN)
    const { html, button, shown } = await ada.price()
    expect(html).toContain('Tax (19 %)')
    expect(button).toBe('Pay $29.75 and subscribe')
    await ada.done('/billing/subscribe', { ...ada.order, shown })

    const page = await ada.look()
    expect(page).toMatch(/The next payment is on .*: \$29\.75\./)
    expect(page).toMatch(/Invoices .*\$29\.75 Paid/)
    const [invoice] = await (await ada.billable()).invoices()
    expect(invoice?.amounts).toMatchObject({
      tax: TAX,
      total: { amount: 2975, currency: 'usd' },
    })
    const customer = (await ada.billable()).providerId ?? ''
    expect(service.sandbox?.stripe.paidInvoices(customer)).toMatchObject([
      { total: 2975, automatic_tax: { enabled: true, status: 'complete' } },
    ])
  })

  it('taxes the renewal by the address that the person has by then', async () => {
    const ada = await payer()
    await (await ada.billable()).updateCard('pm_card_visa')
    await ada.done('/billing/address', BERLIN)
    await ada.done('/billing/subscribe', ada.order)
    await ada.done('/billing/address', {
      ...{ line1: '1 Main Street', city: 'San Francisco', state: 'CA' },
      ...{ postal_code: '94107', country: 'US' },
    })
    // The provider finalizes the draft after an hour.
    await service.advance({ months: 1 })
    await service.advance({ hours: 2 })
    const totals = (await (await ada.billable()).invoices()).map(({ amounts }) => amounts.total)
    expect(totals).toEqual([
      // 7.25 % in California, 19 % in Germany.
      { amount: 2681, currency: 'usd' },
      { amount: 2975, currency: 'usd' },
    ])
  })

  it('asks for the billing address if there is none, charges nothing, and subscribes once there is one', async () => {
    const ada = await payer()
    const before = await ada.price()
    expect(before.button).toBe('Pay $25.00 and subscribe')
    const order = { ...ada.order, shown: before.shown }
    for (let attempt = 0; attempt < 2; attempt++) {
      const refused = await ada.refused('/billing/subscribe', order)
      expect(refused.status).toBe(409)
      expect(refused.alert).toContain('Add your billing address below')
      // The section that the message names.
      expect(refused.html).toContain('Details on your invoices')
      expect(refused.html).toContain('Add a billing address')
    }
    const customer = (await ada.billable()).providerId ?? ''
    expect(service.sandbox?.stripe.charges(customer)).toEqual([])
    expect(service.sandbox?.stripe.subscriptions(customer)).toEqual([])

    await ada.done('/billing/address', BERLIN)
    // The button named a price without tax.
    const changed = await ada.refused('/billing/subscribe', order)
    expect(changed.status).toBe(422)
    expect(changed.alert).toContain('Nothing was charged yet.')
    await ada.done('/billing/subscribe', { ...order, shown: (await ada.price()).shown })
    const [invoice] = await (await ada.billable()).invoices()
    expect(invoice?.amounts.tax).toEqual(TAX)
  })
})
