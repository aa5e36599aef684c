import type { Capability } from '../gateways/contract/parts.ts'

/**
 * The methods of a user that not every provider can do, each with the part of the gateway that it needs.
 * From here come both the `Unsupported` that they throw before any call, and the types of those who lack
 * them.
 */
export const USER_NEEDS = {
  checkout: 'checkout',
  checkoutCharge: 'checkout',
  completeCheckout: 'checkout',
  findCheckout: 'checkout',
  billingPortal: 'portal',
  paymentMethods: 'paymentMethods',
  defaultPaymentMethod: 'paymentMethods',
  findPaymentMethod: 'paymentMethods',
  hasPaymentMethod: 'paymentMethods',
  addPaymentMethod: 'paymentMethods',
  updateDefaultPaymentMethod: 'paymentMethods',
  deletePaymentMethod: 'paymentMethods',
  deletePaymentMethods: 'paymentMethods',
  createSetupIntent: 'setups',
  findSetupIntent: 'setups',
  clientToken: 'clientTokens',
  updateCustomer: 'customerDetails',
  syncCustomerDetails: 'customerDetails',
  refund: 'refunds',
  upcomingInvoice: 'forecasts',
  creditNotes: 'creditNotes',
  findCreditNote: 'creditNotes',
  downloadCreditNote: 'creditNotes',
  balance: 'balance',
  balanceTransactions: 'balance',
  creditBalance: 'balance',
  debitBalance: 'balance',
  giveCredit: 'balance',
  findPromotionCode: 'promotionCodes',
  taxIds: 'taxIds',
  findTaxId: 'taxIds',
  createTaxId: 'taxIds',
  deleteTaxId: 'taxIds',
  taxExempt: 'taxExemptions',
  setTaxExempt: 'taxExemptions',
  reverseChargeApplies: 'taxExemptions',
  reportUsage: 'usage',
  usage: 'usage',
  cancelUsage: 'usage',
} as const satisfies Readonly<Record<string, Capability>>

/** The same of an invoice. */
export const INVOICE_NEEDS = {
  void: 'invoiceActions',
  refund: 'refunds',
  refunded: 'refunds',
  creditNote: 'creditNotes',
} as const satisfies Readonly<Record<string, Capability>>
