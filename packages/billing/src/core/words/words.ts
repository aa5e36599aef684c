/** Labels on invoices and credit notes. `{page}` and `{pages}` are replaced with numbers. */
export interface InvoiceWords {
  /** Title of an unpaid invoice. */
  readonly invoice: string
  /** Title of a paid invoice. */
  readonly receipt: string
  /** Title of a credit note. */
  readonly creditNote: string
  /** Label on a credit note before the number of its invoice. */
  readonly forInvoice: string
  /** Label before the document's number. */
  readonly number: string
  /** Label before the date. */
  readonly date: string
  /** Label above the customer. */
  readonly billedTo: string
  /** Label before the customer's tax id. */
  readonly taxId: string
  /** Heading of the column with the descriptions. */
  readonly description: string
  /** Heading of the column with the billing periods. */
  readonly period: string
  /** Heading of the column with the amounts. */
  readonly amount: string
  /** Label of the sum before discounts and taxes. */
  readonly subtotal: string
  /** Label of a discount. */
  readonly discount: string
  /** Label of a tax that is added. */
  readonly tax: string
  /** Note on a tax that is included in the total. */
  readonly included: string
  /** Sentence which says that the customer owes the tax, not the seller (reverse charge). */
  readonly reverseCharge: string
  /** Label of the total. */
  readonly total: string
  /** Label of the amount paid from the customer's balance. */
  readonly paidFromCredit: string
  /** Label of the amount that the customer owed before this invoice. */
  readonly balanceFromBefore: string
  /** Label of the amount paid. */
  readonly amountPaid: string
  /** Label before the payment method of a paid invoice. */
  readonly paidWith: string
  /** Label of the amount due. */
  readonly amountDue: string
  /** Label of the amount refunded to the card. */
  readonly refunded: string
  /** Label of the amount credited to the customer's balance. */
  readonly toBalance: string
  /** Label of the amount returned outside the provider. */
  readonly outside: string
  /** Text of the page number in the footer. */
  readonly page: string
}

/** The kinds of mail to customers. */
export const mailKinds = [
  'receipt',
  'payment_failed',
  'action_required',
  'trial_ending',
  'card_expiring',
  'refunded',
] as const

/** Kind of mail to a customer. */
export type MailKind = (typeof mailKinds)[number]

/** Subject and opening of a mail. */
export interface MailKindWords {
  /** The subject line, repeated as the heading. */
  readonly subject: string
  /** The first sentences of the mail. */
  readonly text: string
}

/**
 * Phrases of mail. `{name}`, `{vendor}`, `{product}`, `{amount}`, `{date}`, `{month}` and `{card}`
 * are replaced with values.
 */
export interface MailWords extends Readonly<Record<MailKind, MailKindWords>> {
  /** Greeting of a customer whose name is known. */
  readonly greeting: string
  /** Greeting of a customer whose name is unknown. */
  readonly hello: string
  /** Closing, above the vendor's name. */
  readonly closing: string
  /** Sentence in mail about a failed payment which says when the payment is retried. */
  readonly triedAgain: string
  /**
   * Sentence in mail about a failed payment which asks for another payment method, because it is
   * not retried.
   */
  readonly lastAttempt: string
  /**
   * Sentence in mail about the end of a trial which says that the subscription is charged from then
   * on. Used if a subscription follows the trial.
   */
  readonly subscriptionFollows: string
  /**
   * Sentence in mail about the end of a trial which asks the customer to subscribe. Used if no
   * subscription follows the trial.
   */
  readonly noSubscription: string
  /** Text of the link to change the payment method. */
  readonly changeMethod: string
  /** Text of the link to confirm a payment. */
  readonly confirm: string
  /** Text of the link to manage the subscription. */
  readonly manage: string
}

/** All phrases of one language. */
export interface LanguageWords {
  /** Phrases of invoices and credit notes. */
  readonly invoice: InvoiceWords
  /** Phrases of mail. */
  readonly mail: MailWords
}

/**
 * All phrases of one language as a flat object. Mail phrases have keys such as `receipt.subject`
 * and `receipt.text`.
 */
export type TranslatedPhrases = InvoiceWords &
  Omit<MailWords, MailKind> &
  Readonly<Record<`${MailKind}.${keyof MailKindWords}`, string>>
