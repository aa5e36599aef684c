import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, PROVIDERS } from '../accounts.ts'
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

/** A customer whose payment is disputed. `decide` ends the dispute. */
async function disputed(provider: 'stripe' | 'braintree') {
  const person = await accounts.customer(provider)
  await service.advance({})
  const { sandbox } = service
  let decide = (_: 'won' | 'lost'): unknown => null
  if (provider === 'stripe') {
    const [charge] = sandbox?.stripe.charges(person.customerId) ?? []
    const dispute = sandbox?.stripe.disputeCharge(String(charge?.id))
    decide = (outcome) => sandbox?.stripe.decideDispute(String(dispute?.id), outcome)
  } else {
    const sale = sandbox?.braintree.transactions(person.customerId).at(-1)?.id ?? ''
    sandbox?.braintree.notify('dispute_opened', sale)
    decide = (outcome) => sandbox?.braintree.notify(`dispute_${outcome}`, sale)
  }
  await service.advance({})
  const payer = await service.billing.user(Number(person.id))
  const [invoice] = await payer.invoicesIncludingPending()
  const { id: subscription } = await payer.subscription('main')
  return { ...person, decide, invoice: invoice?.id, subscription }
}

describe('disputes in the management API', () => {
  it.each(PROVIDERS)(
    'are listed with their invoice and subscription at %s, and change when they are decided',
    async (provider) => {
      const viewer = await operators.operator('viewer')
      const { id, invoice, subscription, decide } = await disputed(provider)
      const list = async () => (await viewer.call('GET', `/disputes?owner=${id}`)).body
      const entry = { provider, user_id: id, invoice, subscription }
      expect(await list()).toMatchObject({
        data: [
          { ...entry, amount: { amount: 2500, currency: 'usd' }, status: 'open', closed_at: null },
        ],
        next: null,
      })
      decide('lost')
      await service.advance({})
      const closed = { ...entry, status: 'lost', closed_at: expect.any(String) }
      expect((await list()).data).toMatchObject([closed])
      const lost = await viewer.call('GET', `/disputes?status=lost&provider=${provider}`)
      expect(lost.body.data).toContainEqual(expect.objectContaining(closed))
      expect((await viewer.call('GET', `/disputes?status=open&owner=${id}`)).body.data).toEqual([])
      expect((await viewer.call('GET', '/disputes?status=unsure')).status).toBe(422)
    },
  )

  it('are listed page by page, newest first', async () => {
    const viewer = await operators.operator('viewer')
    for (let count = 0; count < 3; count++) {
      await disputed('stripe')
      await service.advance({ hours: 1 })
    }
    const all = (await viewer.call('GET', '/disputes?limit=100')).body.data
    const seen: unknown[] = []
    let after = ''
    do {
      const { body } = await viewer.call('GET', `/disputes?limit=2${after}`)
      seen.push(...body.data)
      after = body.next === null ? '' : `&after=${body.next}`
    } while (after)
    expect(seen).toEqual(all)
    const opened = all.map((each: { opened_at: string }) => each.opened_at)
    expect(opened).toEqual([...opened].sort().reverse())
  })

  it('are also printed by a command', async () => {
    const { id, invoice } = await disputed('stripe')
    const { code, stdout } = await accounts.tollgate('billing', 'disputes', '--user', id)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ID +PROVIDER +OWNER +INVOICE +AMOUNT +STATUS +REASON +OPENED\n/)
    expect(stdout).toContain(`${invoice}  25.00 usd  open`)
    const none = await accounts.tollgate('billing', 'disputes', '--user', id, '--status', 'won')
    expect(none.stdout).toBe('There are no disputes\n')
  })
})

describe("the operators' page about disputes", () => {
  it("lists the disputes of all people by status, and the disputes of one person on that person's page", async () => {
    const viewer = await operatorWithForms(service, 'viewer')
    const { id, invoice } = await disputed('stripe')
    const open = (await viewer.open('/admin/disputes?status=open')).html
    expect(open).toContain(`/admin/people/${id}"`)
    expect(open).toContain(String(invoice))
    expect((await viewer.open('/admin/disputes?status=won')).html).not.toContain(String(invoice))
    const person = (await viewer.open(`/admin/people/${id}`)).html
    expect(person).toContain('disputes-title')
    const other = await accounts.customer('stripe')
    expect((await viewer.open(`/admin/people/${other.id}`)).html).not.toContain('disputes-title')
    const stranger = await operatorWithForms(service, null)
    expect((await stranger.open('/admin/disputes')).status).toBe(404)
  })
})
