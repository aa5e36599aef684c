import { type FlowTest, start } from '../../../../test/support.ts'
import type { MailMessage, MailOptions } from '../../../index.ts'

export const INVOICE_OPTIONS = { vendor: 'Example Ltd', product: 'Gold' }

export async function startWithMail(
  provider: 'stripe' | 'braintree',
  extraMailOptions: Partial<MailOptions> = {},
  options: Parameters<typeof start>[1] = {},
) {
  const sent: MailMessage[] = []
  const mail: MailOptions = { send: async (message) => sent.push(message), ...extraMailOptions }
  const test = await start(provider, { mail, invoice: INVOICE_OPTIONS, ...options })
  return { ...test, sent }
}

export const requireMailQueue = ({ billing }: FlowTest) => {
  if (!billing.notices) throw new Error('There is no mail')
  return billing.notices
}
