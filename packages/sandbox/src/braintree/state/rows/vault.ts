/** A customer in the vault. */
export interface CustomerRow {
  /** Primary key: chosen by the caller, or ten generated digits. */
  id: string
  /** First name. `null` if it was not sent, like all fields that follow. */
  firstName: string | null
  /** Last name. */
  lastName: string | null
  /** Company. */
  company: string | null
  /** E-mail address. Only its format and length are validated; it need not be unique. */
  email: string | null
  /** Phone number as it was sent. */
  phone: string | null
  /** Fax number as it was sent. */
  fax: string | null
  /** Website as it was sent. */
  website: string | null
  /** Phone number in two parts, as it was sent. */
  internationalPhone: InternationalPhone | null
  /** Tax identifiers as they were sent. No response contains them. */
  taxIdentifiers?: TaxIdentifier[]
  /** Custom fields by API name. The names must exist in the settings. */
  customFields: Record<string, string>
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** A customer at the time of a transaction. Later changes do not affect it. */
export type CustomerSnapshot = Omit<
  CustomerRow,
  'id' | 'customFields' | 'internationalPhone' | 'taxIdentifiers' | 'createdAt' | 'updatedAt'
> & {
  /** Phone number in two parts, as it was sent. */
  internationalPhone?: InternationalPhone | null
  /**
   * Id of the customer. `null` if the customer was described in the sale and is not in the vault.
   */
  id: string | null
}

/** A customer's tax identifier. */
export interface TaxIdentifier {
  /** Country such as `BR`. */
  countryCode: string | null
  /** The tax identifier itself, as text. */
  identifier: string | null
}

/** A phone number in two parts. */
export interface InternationalPhone {
  /** Country code such as `1`. */
  countryCode: string | null
  /** Number within the country. */
  nationalNumber: string | null
}

/** A billing or shipping address. Any of the four country fields sets the others. */
export interface Address {
  /** First name. */
  firstName: string | null
  /** Last name. */
  lastName: string | null
  /** Company. */
  company: string | null
  /** Street and number. */
  streetAddress: string | null
  /** Second line, such as an apartment. */
  extendedAddress: string | null
  /** City. */
  locality: string | null
  /** State or province. */
  region: string | null
  /** Postal code as it was sent. */
  postalCode: string | null
  /** English name of the country. */
  countryName: string | null
  /** Two-letter country code such as `US`. */
  countryCodeAlpha2: string | null
  /** Three-letter country code such as `USA`. */
  countryCodeAlpha3: string | null
  /** Numeric country code such as `840`. */
  countryCodeNumeric: string | null
  /** Phone number as it was sent. */
  phoneNumber: string | null
  /** Phone number in two parts, as it was sent. */
  internationalPhone: InternationalPhone | null
}

/** A customer's address. Cards refer to it by its id. */
export interface AddressRow extends Address {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /** Id of the customer. */
  customerId: string
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** A card as it is stored, without its number. */
export interface CardDetails {
  /** First six digits of the number. */
  bin: string
  /** Last four digits of the number. */
  last4: string
  /** Card type in Braintree's spelling, such as `Visa` or `MasterCard`. */
  cardType: string
  /** Expiration month: `01` to `12`. */
  expirationMonth: string
  /** Expiration year, four digits. */
  expirationYear: string
  /** Cardholder name as it was sent. */
  cardholderName: string | null
  /** Fingerprint of the number. Equal numbers have equal fingerprints, which finds duplicates. */
  uniqueNumberIdentifier: string
}

/** A PayPal account. */
export interface PayPalDetails {
  /** E-mail address of the payer. */
  email: string
  /** PayPal's id of the payer. */
  payerId: string
  /** Id of the billing agreement. `null` if the payer approved one payment only. */
  billingAgreementId: string | null
}

/** Details of a card or PayPal account. */
export type Instrument =
  | {
      /** The SDK's `CreditCard`. */
      kind: 'credit_card'
      /** Details of the card, without its number. */
      card: CardDetails
    }
  | {
      /** The SDK's `PayPalAccount`. */
      kind: 'paypal_account'
      /** Details of the PayPal account. */
      paypal: PayPalDetails
    }

/** Result of 3-D Secure authentication. */
export interface ThreeDSecureInfo {
  /** Status such as `authenticate_successful` or `lookup_not_enrolled`. */
  status: string
  /**
   * Whether the card takes part in 3-D Secure. `U` is unknown, `B` means that the bank was not
   * asked.
   */
  enrolled: 'Y' | 'N' | 'U' | 'B'
  /** Whether the bank, not the merchant, is liable for fraud. */
  liabilityShifted: boolean
  /** Whether the liability could have shifted to the bank. */
  liabilityShiftPossible: boolean
  /** Cryptogram that proves the authentication. */
  cavv: string | null
  /** Transaction id in 3-D Secure version 1. */
  xid: string | null
  /** Electronic commerce indicator: `05` authenticated, `06` attempted, `07` not authenticated. */
  eciFlag: string | null
  /** Version of the 3-D Secure protocol, such as `2.2.0`. */
  threeDSecureVersion: string
  /** Transaction id in 3-D Secure version 2. */
  dsTransactionId: string | null
}

/** The verification of a card. */
export interface VerificationRow {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /**
   * Result. `gateway_rejected` never reached the processor; `failed` means that no processor was
   * available.
   */
  status: 'verified' | 'processor_declined' | 'gateway_rejected' | 'failed'
  /** Amount in minor units. `0` unless the call set one. */
  amount: number
  /** Currency of the merchant account. */
  currency: string
  /** Id of the merchant account: the requested or the default one. */
  merchantAccountId: string
  /** Account type of a combined card, as in Brazil. `null` unless the call set it. */
  accountType?: 'credit' | 'debit' | null
  /** The verified card. */
  card?: CardDetails
  /** Result of 3-D Secure from the nonce or authentication. */
  threeDSecure?: ThreeDSecureInfo
  /** Token of the stored payment method. `null` if none was stored. */
  token?: string | null
  /** Billing address of the card at that time. */
  billingAddress?: Address | null
  /** Whether fraud protection evaluated the verification. */
  hasRiskData?: boolean
  /** The processor's response code: `1000` is approved, `2000` and above is not. */
  responseCode: string
  /** Reason for `gateway_rejected`, such as `cvv`, `avs` or `fraud`. */
  gatewayRejectionReason: string | null
  /** Creation time in epoch milliseconds. */
  createdAt: number
}

/** A payment method in the vault. */
export interface PaymentMethodRow {
  /** Primary key: the token by which charges and subscriptions refer to it. */
  token: string
  /** Id of the customer. */
  customerId: string
  /** The card or PayPal account. */
  instrument: Instrument
  /** Whether it is the customer's default. Exactly one of a customer's payment methods is. */
  isDefault: boolean
  /**
   * Processor code or gateway rejection reason with which every charge fails. `null` if charges can
   * succeed.
   */
  alwaysFailsWith: string | null
  /** Id of one of the customer's addresses. `null` if there is no billing address. */
  billingAddressId: string | null
  /** Verifications, newest first. */
  verifications: VerificationRow[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** A single-use nonce. The fixed `fake-…` nonces have no rows. */
export interface NonceRow {
  nonce: string
  instrument: Instrument
  alwaysFailsWith: string | null
  /** Customer whose vault it was created from or for. */
  customerId: string | null
  /** Token of the stored payment method, if it was created from one. */
  token: string | null
  /** Token that the creator of the nonce chose for the payment method. */
  wantedToken?: string | null
  /** Billing address entered with the card. */
  billingAddress?: Address | null
  /** Result of 3-D Secure, if the page used it. */
  threeDSecure?: ThreeDSecureInfo
  consumed: boolean
}
