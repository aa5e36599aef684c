import type { BillingContext } from '../../../core/context.ts'
import type { ProviderName } from '../../../core/values/provider-name.ts'
import type { UsageBill } from '../../../core/values/usage-bill.ts'
import { requireGatewayPart } from '../../../providers/gateway-parts.ts'
import type { InvoiceData } from '../../invoices/invoice.ts'
import { isChargedByUs } from '../contract.ts'
import { toLinesWithTax } from './bill.ts'
import { createChargedUsageRepository } from './charged-usage-rows.ts'

/**
 * Adds details to invoices for usage that billing itself charges: replaces the single line of the
 * provider by one line for each meter and price tier.
 */
export async function expandUsageLines(
  context: BillingContext,
  provider: ProviderName,
  invoices: readonly InvoiceData[],
): Promise<InvoiceData[]> {
  const { database, providers } = context.options
  if (providers.find(provider)?.usageCountedBy !== 'us') return [...invoices]
  const part = requireGatewayPart(await context.gateway(provider), 'usage')
  if (!isChargedByUs(part)) return [...invoices]
  const keys = invoices.flatMap((invoice) => part.keyOf(invoice) ?? [])
  const bills = await createChargedUsageRepository(database, provider).findBills(keys)
  return invoices.map((invoice) => {
    const bill = bills.get(part.keyOf(invoice) ?? '')
    return bill ? { ...invoice, lines: toUsageInvoiceLines(bill, invoice) } : invoice
  })
}

function toUsageInvoiceLines(bill: UsageBill, { lines }: InvoiceData): InvoiceData['lines'] {
  const period = lines[0]?.period ?? null
  return toLinesWithTax(bill).map(({ quantity, ...line }) => ({
    ...line,
    quantity: Number(quantity),
    isUsage: true,
    period,
  }))
}
