import type { ProviderName, UpcomingInvoice } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'

interface InvoicePreviewView {
  readonly invoice: UpcomingInvoice
  readonly caption: string
  /** Label of the total, with its date. */
  readonly due: string
  /** The provider whose price ids the lines may contain. */
  readonly provider?: ProviderName
}

/** The lines of an invoice that is not charged yet, and their total. */
export const InvoicePreview: FC<InvoicePreviewView> = ({ invoice, caption, due, provider }) => {
  const { service, t } = usePage()
  const { plans } = service.config.settings
  const { total, lines, includedTax } = invoice
  return (
    <table class="amounts sum">
      <caption>{caption}</caption>
      <tbody>
        {lines.map(({ description, amount }) => (
          <tr>
            <th scope="row">
              <bdi>{provider ? nameLine(description, plans, provider) : description}</bdi>
            </th>
            <td>{formatAmount(amount, t)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{due}</th>
          <td>{formatAmount(total, t)}</td>
        </tr>
        {includedTax.amount > 0 && (
          <tr>
            <th scope="row">{t('swap.tax')}</th>
            <td>{formatAmount(includedTax, t)}</td>
          </tr>
        )}
      </tfoot>
    </table>
  )
}

/** Replaces price ids in a line of Braintree, such as `monthly → pro`, by the names of the plans. */
function nameLine(description: string, plans: readonly Plan[], provider: ProviderName): string {
  const names = new Map(
    plans.flatMap((plan) => [plan, ...plan.prices]).map((each) => [each[provider], each.name]),
  )
  return description
    .split(' → ')
    .map((part) => names.get(part) ?? part)
    .join(' → ')
}
