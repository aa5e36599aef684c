import type { BillingContext } from '../../context.ts'
import { isChargedByUs } from '../../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { InvoiceData } from '../../invoices/invoice.ts'
import type { ProviderName } from '../../provider-name.ts'
import { chargedUsageRepository } from '../../storage/queues/charged-usage.ts'
import { type UsageBill, withTax } from '../../values/usage/bill.ts'

/** Where we charge usage, the provider knows one line for all of it: here is each, as it was charged. */
export async function showUsageLines(
  context: BillingContext,
  provider: ProviderName,
  invoices: readonly InvoiceData[],
): Promise<InvoiceData[]> {
  const { database, providers } = context.options
  if (providers.find(provider)?.usageCountedBy !== 'us') return [...invoices]
  const part = requirePart(await context.gateway(provider), 'usage')
  if (!isChargedByUs(part)) return [...invoices]
  const keys = invoices.flatMap((invoice) => part.keyOf(invoice) ?? [])
  const bills = await chargedUsageRepository(database, provider).findBills(keys)
  return invoices.map((invoice) => {
    const bill = bills.get(part.keyOf(invoice) ?? '')
    return bill ? { ...invoice, lines: linesOf(bill, invoice) } : invoice
  })
}

function linesOf(bill: UsageBill, { lines }: InvoiceData): InvoiceData['lines'] {
  const period = lines[0]?.period ?? null
  return withTax(bill).map(({ quantity, ...line }) => ({
    ...line,
    quantity: Number(quantity),
    isUsage: true,
    period,
  }))
}
