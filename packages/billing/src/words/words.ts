/** What an invoice or a credit note says beside names and numbers. `{page}` and `{pages}` stand for numbers. */
export interface InvoiceWords {
  /** The title of an invoice that is not paid. */
  readonly invoice: string
  /** The title of one that is paid. */
  readonly receipt: string
  /** The title of a credit note. */
  readonly creditNote: string
  /** Of a credit note: before the number of the invoice. */
  readonly forInvoice: string
  /** Before the number. */
  readonly number: string
  /** Before the date. */
  readonly date: string
  /** Above the customer. */
  readonly billedTo: string
  /** Before a tax id of the customer's. */
  readonly taxId: string
  /** Above what was sold. */
  readonly description: string
  /** Above the days it covers. */
  readonly period: string
  /** Above the amounts. */
  readonly amount: string
  /** Before discounts and taxes. */
  readonly subtotal: string
  /** What was taken off. */
  readonly discount: string
  /** A tax on top. */
  readonly tax: string
  /** A tax that is within the total. */
  readonly included: string
  /** A sentence: the customer pays the tax, not the seller. */
  readonly reverseCharge: string
  /** What it comes to. */
  readonly total: string
  /** What a balance has paid. */
  readonly paidFromCredit: string
  /** What was owed before. */
  readonly balanceFromBefore: string
  /** What was paid. */
  readonly amountPaid: string
  /** What is left to pay. */
  readonly amountDue: string
  /** What went back to the card. */
  readonly refunded: string
  /** What went to the customer's balance. */
  readonly toBalance: string
  /** What was given back past the provider. */
  readonly outside: string
  /** At the foot: which page of how many. */
  readonly page: string
}

/** What mail is about. */
export type NoticeKind =
  | 'receipt'
  | 'payment_failed'
  | 'action_required'
  | 'trial_ending'
  | 'card_expiring'
  | 'refunded'

/** A subject, and what comes first in the mail. */
export interface NoticeWords {
  /** Stands above the mail, too. */
  readonly subject: string
  /** The first sentences. */
  readonly text: string
}

/** What mail says. `{name}`, `{vendor}`, `{product}`, `{amount}`, `{date}`, `{month}` and `{card}` stand for what it is about. */
export interface MailWords extends Readonly<Record<NoticeKind, NoticeWords>> {
  /** To somebody whose name is known. */
  readonly greeting: string
  /** To somebody else. */
  readonly hello: string
  /** Above the vendor, at the end. */
  readonly closing: string
  /** Of a failed payment: when it is tried again. */
  readonly triedAgain: string
  /** Of a failed payment that is not tried again. */
  readonly lastAttempt: string
  /** Of a trial: it is billed afterwards. */
  readonly subscriptionFollows: string
  /** Of a trial: nothing follows. */
  readonly noSubscription: string
  /** On the way to another card. */
  readonly changeMethod: string
  /** On the way to the bank's question. */
  readonly confirm: string
  /** On the way to the subscription. */
  readonly manage: string
}

/** Everything that is said in one language. */
export interface Words {
  /** On paper. */
  readonly invoice: InvoiceWords
  /** In mail. */
  readonly mail: MailWords
}
