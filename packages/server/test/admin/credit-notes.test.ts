import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

const usd = (amount: number) => ({ amount, currency: 'usd' })
const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })

/** A customer who has paid one invoice over 25.00. */
async function payer(provider: 'stripe' | 'braintree' = 'stripe') {
  const customer = await accounts.customer(provider)
  await service.advance({})
  const user = await service.billing.user(Number(customer.id))
  const [invoice] = await user.invoicesIncludingPending()
  if (!invoice) throw new Error('Nothing was invoiced')
  const path = `/users/${customer.id}/invoices/${invoice.id}`
  return { ...customer, user, invoice, path, issue: `${path}/credit-notes` }
}

describe('credit notes in the management API', () => {
  it('cover first a part and then the rest of an invoice, are listed, and can be downloaded by the person', async () => {
    const support = await operators.operator('support')
    const { id, email, path, issue, invoice } = await payer()
    const part = { to: 'balance', amount: usd(700), credit_reason: 'order_change', memo: 'Sorry' }
    const first = await support.call('POST', issue, keyed('part', part))
    expect(first).toMatchObject({
      status: 200,
      body: {
        invoice: invoice.id,
        total: usd(700),
        to_balance: usd(700),
        refunded: usd(0),
        reason: 'order_change',
        memo: 'Sorry',
        void: false,
      },
    })
    const rest = await support.call('POST', issue, keyed('rest', { to: 'refund' }))
    expect(rest.body).toMatchObject({ total: usd(1800), refunded: usd(1800) })
    const listed = (await support.call('GET', `/users/${id}/credit-notes`)).body.data
    expect(new Set(listed.map((note: { id: string }) => note.id))).toEqual(
      new Set([first.body.id, rest.body.id]),
    )
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(1800))
    const { balance } = (await support.call('GET', `/users/${id}/customer`)).body
    expect(balance).toEqual(usd(700))
    const browser = service.browser()
    await browser.signIn(email, 'correct horse')
    const pdf = await browser.get(`/billing/credit-note/${first.body.id}`)
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    const stranger = await accounts.customer('stripe')
    const other = service.browser()
    await other.signIn(stranger.email, 'correct horse')
    expect((await other.get(`/billing/credit-note/${first.body.id}`)).status).toBe(404)
    const entries = await operators.entries('billing.issueCreditNote')
    expect(entries.at(-1)).toMatchObject({ outcome: 'done', subject_kind: 'invoice', owner_id: id })
    expect(JSON.stringify(entries)).not.toContain('Sorry')
  })

  it('are issued once per idempotency key, even for two concurrent requests', async () => {
    const support = await operators.operator('support')
    const { id, issue, path } = await payer()
    const send = (key: string) =>
      support.call('POST', issue, keyed(key, { to: 'refund', amount: usd(300) }))
    const statuses = (await Promise.all([send('twin'), send('twin')])).map(({ status }) => status)
    expect([
      [200, 200],
      [200, 409],
    ]).toContainEqual(statuses.sort())
    const again = await send('twin')
    expect(again.status).toBe(200)
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(300))
    const { data } = (await support.call('GET', `/users/${id}/credit-notes`)).body
    expect(data).toEqual([again.body])
    const reused = await support.call('POST', issue, keyed('twin', { to: 'refund' }))
    expect(reused.status).toBe(422)
  })

  it("are issued once if a provider's response is lost and the request is repeated", async () => {
    const support = await operators.operator('support')
    const { id, issue, path } = await payer()
    const POINTS = 8
    let failed = 0
    for (let point = 0; point < POINTS; point++) {
      const request = keyed(`lost-${point}`, { to: 'refund', amount: usd(100) })
      if (point > 0) service.sandbox?.trouble.failNext(point, { slowMs: 0 }, 'stripe')
      service.sandbox?.trouble.failNext(10, 'half-written', 'stripe')
      const first = await support.call('POST', issue, request)
      service.sandbox?.trouble.clear()
      if (first.status !== 200) {
        failed++
        const [intent, outcome] = (await operators.entries('billing.issueCreditNote')).slice(-2)
        expect([intent?.outcome, outcome?.outcome]).toEqual(['started', 'failed'])
        expect(outcome?.intent_id).toBe(intent?.id)
      }
      expect((await support.call('POST', issue, request)).status, `${point}`).toBe(200)
      expect((await support.call('GET', path)).body.refunded).toEqual(usd(100 * (point + 1)))
    }
    expect(failed).toBeGreaterThan(2)
    const { data } = (await support.call('GET', `/users/${id}/credit-notes`)).body
    expect(data).toHaveLength(POINTS)
  })

  it('can document an earlier refund without returning the money twice', async () => {
    const support = await operators.operator('support')
    const { issue, path } = await payer()
    const refunded = await support.call(
      'POST',
      `${path}/refund`,
      keyed('first', { amount: usd(400) }),
    )
    const body = { to: 'refund', of_refund: refunded.body.refund }
    const note = await support.call('POST', issue, keyed('document', body))
    expect(note.body).toMatchObject({ total: usd(400) })
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(400))
  })

  it("are refused above the invoice's amount, in another currency, without a key, and with wrong fields", async () => {
    const support = await operators.operator('support')
    const { issue, path } = await payer()
    const send = (key: string, body: object) => support.call('POST', issue, keyed(key, body))
    const bare = await support.call('POST', issue, { body: { to: 'refund' } })
    const more = await send('more', { to: 'refund', amount: usd(2501) })
    const foreign = await send('eur', { to: 'refund', amount: { amount: 1, currency: 'eur' } })
    const nowhere = await send('to', { to: 'me' })
    const without = await send('none', {})
    const negative = await send('minus', { to: 'refund', amount: usd(-1) })
    expect([bare, more, foreign, nowhere, without, negative].map(({ status }) => status)).toEqual([
      428, 409, 422, 422, 422, 422,
    ])
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(0))
  })

  it("are refused to a viewer, after an old sign-in, for another person's invoice, and at Braintree", async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const [{ issue, invoice }, other] = [await payer(), await payer()]
    const request = keyed('refused', { to: 'refund' })
    expect((await viewer.call('POST', issue, request)).status).toBe(403)
    const foreign = `/users/${other.id}/invoices/${invoice.id}/credit-notes`
    expect((await support.call('POST', foreign, request)).status).toBe(404)
    const braintree = await payer('braintree')
    expect((await support.call('POST', braintree.issue, request)).status).toBe(409)
    const none = await support.call('GET', `/users/${braintree.id}/credit-notes`)
    expect(none.body).toEqual({ data: [] })
    service.clock.advance({ seconds: 601 })
    expect(await support.call('POST', issue, request)).toMatchObject({
      status: 403,
      body: { type: expect.stringContaining('#fresh-sign-in-required') },
    })
  })
})

describe("the operators' page for credit notes", () => {
  it('issues one credit note, however often the form is sent, and lists it', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id, invoice, user } = await payer()
    const page = `/admin/people/${id}`
    const act = `${page}/credit-note?object=${invoice.id}`
    expect((await support.open(page)).html).toContain(act)
    const wrong = await support.submit(act, { to: 'refund', amount: 'nothing' })
    expect([wrong.status, wrong.html]).toEqual([
      422,
      expect.stringContaining('Enter an amount above zero'),
    ])
    const form = await support.open(act)
    for (let times = 0; times < 2; times++) {
      const done = await support.send(form, act, { to: 'balance', amount: '5,00', memo: 'Sorry' })
      expect(done.location).toBe(`${page}?done=credit-note-issued`)
    }
    const notes = await user.creditNotes()
    expect(notes.map(({ data }) => data.total)).toEqual([500])
    expect((await support.open(page)).html).toContain(notes[0]?.number)
    const braintree = await payer('braintree')
    expect((await support.open(`/admin/people/${braintree.id}`)).html).not.toContain('credit-note?')
  })
})
