import type { VersionChange } from './basics/version-change.ts'
import { checkoutShipping } from './basil/checkout-shipping.ts'
import { checkoutSubscriptions } from './basil/checkout-subscriptions.ts'
import { creditNoteRefund } from './basil/credit-note-refund.ts'
import { customerCoupon } from './basil/customer-coupon.ts'
import { invoiceParent } from './basil/invoice-parent.ts'
import { invoicePayments } from './basil/invoice-payments.ts'
import { invoiceTaxes } from './basil/invoice-taxes.ts'
import { lineDetails } from './basil/line-details.ts'
import { listTotals } from './basil/list-totals.ts'
import { singleDiscounts } from './basil/single-discounts.ts'
import { subscriptionPeriods } from './basil/subscription-periods.ts'
import { upcomingInvoices } from './basil/upcoming-invoices.ts'
import { usageRecords } from './basil/usage-records.ts'
import { classicByDefault } from './clover/classic-by-default.ts'
import { discountCoupon } from './clover/discount-coupon.ts'
import { intentTransferData } from './clover/intent-transfer-data.ts'
import { phaseIterations } from './clover/phase-iterations.ts'
import { promotionCodeCoupon } from './clover/promotion-code-coupon.ts'
import { checkoutUiModes } from './dahlia/checkout-ui-modes.ts'
import { meterValueDigits } from './dahlia/meter-value-digits.ts'
import { cardByDefault } from './dated/card-by-default.ts'
import { intentCharges } from './dated/intent-charges.ts'
import { marketingFeatures } from './dated/marketing-features.ts'
import { anchorAsObject } from './endive/anchor-as-object.ts'
import { paymentMethodTypesParam } from './endive/payment-method-types-param.ts'

/** The changes of the API that the sandbox can take back, newest first. */
export const CHANGES: readonly VersionChange[] = [
  anchorAsObject,
  paymentMethodTypesParam,
  meterValueDigits,
  checkoutUiModes,
  intentTransferData,
  discountCoupon,
  promotionCodeCoupon,
  classicByDefault,
  phaseIterations,
  subscriptionPeriods,
  invoiceParent,
  invoicePayments,
  invoiceTaxes,
  lineDetails,
  singleDiscounts,
  upcomingInvoices,
  usageRecords,
  checkoutShipping,
  checkoutSubscriptions,
  creditNoteRefund,
  customerCoupon,
  listTotals,
  marketingFeatures,
  cardByDefault,
  intentCharges,
]

/** Of older versions some changes are missing here, and the response says so. */
export const WHOLE_SINCE = '2025-03-31'
