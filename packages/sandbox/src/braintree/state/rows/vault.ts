/** A customer in the vault. */
export interface CustomerRow {
  /** Chosen by the caller, or ten digits of ours. */
  id: string
  /** Null when it was not sent, as all that follows. */
  firstName: string | null
  /** The family name. */
  lastName: string | null
  /** Where they work, or what they are. */
  company: string | null
  /** Not checked beyond its length, and not unique. */
  email: string | null
  /** As it was sent. */
  phone: string | null
  /** As it was sent. */
  fax: string | null
  /** As it was sent. */
  website: string | null
  /** As it was sent. */
  internationalPhone: InternationalPhone | null
  /** As they were sent; Braintree shows them to nobody. */
  taxIdentifiers?: TaxIdentifier[]
  /** Values by API name; the names must exist in the settings. */
  customFields: Record<string, string>
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** A customer as it was when a transaction was made; later changes do not reach it. */
export type CustomerSnapshot = Omit<
  CustomerRow,
  'id' | 'customFields' | 'internationalPhone' | 'taxIdentifiers' | 'createdAt' | 'updatedAt'
> & {
  /** As it was sent. */
  internationalPhone?: InternationalPhone | null
  /** Null when the customer was named in the sale and is not in the vault. */
  id: string | null
}

/** What a tax office calls a customer. */
export interface TaxIdentifier {
  /** `BR` */
  countryCode: string | null
  /** The number. */
  identifier: string | null
}

/** A telephone number in two parts. */
export interface InternationalPhone {
  /** `1` */
  countryCode: string | null
  /** The rest of it. */
  nationalNumber: string | null
}

/** A billing or shipping address. One way to name the country fills in the others. */
export interface Address {
  /** Of whoever lives there. */
  firstName: string | null
  /** Of whoever lives there. */
  lastName: string | null
  /** Of whoever lives there. */
  company: string | null
  /** Street and number. */
  streetAddress: string | null
  /** The second line, such as a flat. */
  extendedAddress: string | null
  /** The city. */
  locality: string | null
  /** The state or province. */
  region: string | null
  /** As it was sent. */
  postalCode: string | null
  /** In English. */
  countryName: string | null
  /** `US` */
  countryCodeAlpha2: string | null
  /** `USA` */
  countryCodeAlpha3: string | null
  /** `840` */
  countryCodeNumeric: string | null
  /** As it was sent. */
  phoneNumber: string | null
  /** As it was sent. */
  internationalPhone: InternationalPhone | null
}

/** An address of a customer. Cards name it by its id. */
export interface AddressRow extends Address {
  /** Ours, in Braintree's alphabet. */
  id: string
  /** Whose it is. */
  customerId: string
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** What is kept of a card. The number itself never is. */
export interface CardDetails {
  /** The first six digits. */
  bin: string
  /** The last four digits. */
  last4: string
  /** `Visa`, `MasterCard` … as Braintree spells it. */
  cardType: string
  /** `01` to `12`. */
  expirationMonth: string
  /** Four digits. */
  expirationYear: string
  /** As it was sent. */
  cardholderName: string | null
  /** Equal for equal numbers: what finds duplicates. */
  uniqueNumberIdentifier: string
}

/** A PayPal account that was paid with or kept. */
export interface PayPalDetails {
  /** The payer's. */
  email: string
  /** PayPal's own id of the payer. */
  payerId: string
  /** Null for an account that was allowed to pay once only. */
  billingAgreementId: string | null
}

/** What a charge is made to. */
export type Instrument =
  | {
      /** The SDK's `CreditCard`. */
      kind: 'credit_card'
      /** Its details, without the number. */
      card: CardDetails
    }
  | {
      /** The SDK's `PayPalAccount`. */
      kind: 'paypal_account'
      /** Its details. */
      paypal: PayPalDetails
    }

/** What came of 3-D Secure before a card was used. */
export interface ThreeDSecureInfo {
  /** `authenticate_successful`, `lookup_not_enrolled` and the like. */
  status: string
  /** Whether the card takes part; `U` is unknown, `B` was not asked. */
  enrolled: 'Y' | 'N' | 'U' | 'B'
  /** The bank bears the loss of a fraud. */
  liabilityShifted: boolean
  /** It could have been the bank's. */
  liabilityShiftPossible: boolean
  /** The bank's proof. */
  cavv: string | null
  /** The name of the authentication in version 1. */
  xid: string | null
  /** `05` authenticated, `06` attempted, `07` not. */
  eciFlag: string | null
  /** Of the protocol. */
  threeDSecureVersion: string
  /** The name of the authentication in version 2. */
  dsTransactionId: string | null
}

/** What the processor said about a card before it was kept. */
export interface VerificationRow {
  /** Ours, in Braintree's alphabet. */
  id: string
  /** `gateway_rejected` never reached the processor; `failed` found none. */
  status: 'verified' | 'processor_declined' | 'gateway_rejected' | 'failed'
  /** Minor units; 0 unless the call asked for more. */
  amount: number
  /** Of the merchant account. */
  currency: string
  /** The one it was asked for, or the default. */
  merchantAccountId: string
  /** Of a card that is both, as in Brazil; null unless the call said. */
  accountType?: 'credit' | 'debit' | null
  /** The card that was asked about. */
  card?: CardDetails
  /** Of the nonce or the authentication it came with. */
  threeDSecure?: ThreeDSecureInfo
  /** The stored method it was asked for; null when nothing was kept. */
  token?: string | null
  /** Of the card then. */
  billingAddress?: Address | null
  /** True where fraud protection has looked at it. */
  hasRiskData?: boolean
  /** The processor's code: `1000` is approved, `2000` and above is not. */
  responseCode: string
  /** `cvv`, `avs`, `fraud` … for `gateway_rejected`. */
  gatewayRejectionReason: string | null
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
}

/** A payment method in the vault. */
export interface PaymentMethodRow {
  /** What charges and subscriptions name it by. */
  token: string
  /** Whose vault it is in. */
  customerId: string
  /** The card or the PayPal account. */
  instrument: Instrument
  /** One per customer, as long as there are any. */
  isDefault: boolean
  /** A processor code or gateway rejection reason that every charge meets; null when it works. */
  alwaysFailsWith: string | null
  /** One of the customer's addresses; null when none was named. */
  billingAddressId: string | null
  /** Newest first. */
  verifications: VerificationRow[]
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** A nonce made for one use; the fixed `fake-…` nonces are not rows. */
export interface NonceRow {
  nonce: string
  instrument: Instrument
  alwaysFailsWith: string | null
  /** Whose vault it was made from or for. */
  customerId: string | null
  /** The stored method it stands for, if it was made from one. */
  token: string | null
  /** The token that whoever made it asked for. */
  wantedToken?: string | null
  /** What was typed in with the card. */
  billingAddress?: Address | null
  /** The outcome of 3-D Secure, if a page asked for it. */
  threeDSecure?: ThreeDSecureInfo
  consumed: boolean
}
