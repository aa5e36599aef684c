// A third-party payment provider and its tests, without any SDK, database driver, invoice printer
// or sandbox.
import assert from 'node:assert/strict'
import { type InvoiceData, renderInvoice } from '@tollgate/billing'
import { type GatewayUnderTest, gatewayContract, startBilling } from '@tollgate/billing/testing'
import { connect, MissingPackage } from '@tollgate/database'

const titles: string[] = []
const runner = {
  describe(_name: string, body: () => void) {
    body()
  },
  it(name: string) {
    titles.push(name)
  },
}
gatewayContract(runner, async (): Promise<GatewayUnderTest> => {
  throw new Error('Nothing is run here')
})
assert(titles.length > 10)
await assert.rejects(startBilling(), /needs the package "@tollgate\/sandbox"/)
const missing = await connect('sqlite::memory:').catch((error: unknown) => error)
assert(missing instanceof MissingPackage && missing.package === 'libsql', String(missing))
const invoice: InvoiceData = {
  ...{
    id: 'in_1',
    number: '1',
    provider: 'stripe',
    date: new Date(0),
    paid: true,
    currency: 'eur',
  },
  ...{
    lines: [],
    subtotal: 0,
    discounts: [],
    taxes: [],
    total: 0,
    amountDue: 0,
    startingBalance: 0,
  },
  ...{ customer: { name: null, email: null }, raw: null },
}
await assert.rejects(
  renderInvoice(invoice, { vendor: 'Example Ltd', product: 'Gold' }),
  (error) => error instanceof MissingPackage && error.package === '@tollgate/invoices',
)
console.log(`${titles.length} tests for a provider`)
