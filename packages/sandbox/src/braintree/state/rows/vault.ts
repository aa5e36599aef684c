/** A customer in the vault, as the sandbox stores it. */
export interface CustomerRow {
  /** Primary key: the id chosen by the caller, or ten generated digits. */
  id: string
  /** First name. `null` if it was not sent. */
  firstName: string | null
  /** Last name. `null` if it was not sent. */
  lastName: string | null
  /** Name of the company. `null` if it was not sent. */
  company: string | null
  /** E-mail address. Only its format and length are validated; it need not be unique. */
  email: string | null
  /** Phone number as it was sent. */
  phone: string | null
  /** Fax number as it was sent. */
  fax: string | null
  /** Website as it was sent. */
  website: string | null
  /** Phone number in two parts (country code and national number), as it was sent. */
  internationalPhone: InternationalPhone | null
  /** Tax identifiers as they were sent. API responses do not contain them. */
  taxIdentifiers?: TaxIdentifier[]
  /** Custom fields by API name. Only names in the settings of the control panel are allowed. */
  customFields: Record<string, string>
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/**
 * A copy of a customer at the time of a transaction. Later changes of the customer do not affect
 * the copy.
 */
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
  /** Code of the country that issued the tax identifier, such as `BR`. */
  countryCode: string | null
  /** The tax identifier itself, as text. */
  identifier: string | null
}

/** A phone number in two parts: country code and national number. */
export interface InternationalPhone {
  /** Country calling code, such as `1`. */
  countryCode: string | null
  /** Phone number within the country. */
  nationalNumber: string | null
}

/**
 * A billing or shipping address. A call that sets one of the four country fields sets the other
 * three too.
 */
export interface BillingAddress {
  /** First name. */
  firstName: string | null
  /** Last name. */
  lastName: string | null
  /** Name of the company. */
  company: string | null
  /** Street and number. */
  streetAddress: string | null
  /** Second line of the address, such as an apartment. */
  extendedAddress: string | null
  /** City or town. */
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
  /** Phone number in two parts (country code and national number), as it was sent. */
  internationalPhone: InternationalPhone | null
}

/** An address of a customer. Cards refer to the address by its id. */
export interface AddressRow extends BillingAddress {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /** Id of the customer who has the address. */
  customerId: string
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** The stored details of a card, without its number. */
export interface CardDetails {
  /** First six digits of the card number. */
  bin: string
  /** Last four digits of the card number. */
  last4: string
  /** Card type in Braintree's spelling, such as `Visa` or `MasterCard`. */
  cardType: string
  /** Expiration month: `01` to `12`. */
  expirationMonth: string
  /** Expiration year in four digits. */
  expirationYear: string
  /** Cardholder name as it was sent. */
  cardholderName: string | null
  /**
   * Fingerprint of the card number. Equal numbers have equal fingerprints, by which duplicates are
   * found.
   */
  uniqueNumberIdentifier: string
}

/** The stored details of a PayPal account. */
export interface PayPalDetails {
  /** E-mail address of the payer. */
  email: string
  /** PayPal's id of the payer. */
  payerId: string
  /** Id of the billing agreement. `null` if the payer approved one payment only. */
  billingAgreementId: string | null
}

/** Details of a payment method: a card or a PayPal account. */
export type PaymentInstrument =
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

/** Result of the 3-D Secure authentication of a card. */
export interface ThreeDSecureInfo {
  /** Status such as `authenticate_successful` or `lookup_not_enrolled`. */
  status: string
  /**
   * Whether the card takes part in 3-D Secure: yes (`Y`), no (`N`) or unknown (`U`). `B` means that
   * the bank was not asked.
   */
  enrolled: 'Y' | 'N' | 'U' | 'B'
  /** Whether the bank, instead of the merchant, is liable for fraud. */
  liabilityShifted: boolean
  /** Whether the liability for fraud could have shifted to the bank. */
  liabilityShiftPossible: boolean
  /** Cryptogram (CAVV) that proves the authentication. `null` without one. */
  cavv: string | null
  /** Transaction id of 3-D Secure version 1. `null` in version 2. */
  xid: string | null
  /**
   * Electronic commerce indicator (ECI): `05` means authenticated, `06` attempted, `07` not
   * authenticated.
   */
  eciFlag: string | null
  /** Version of the 3-D Secure protocol, such as `2.2.0`. */
  threeDSecureVersion: string
  /** Transaction id of 3-D Secure version 2. `null` in version 1. */
  dsTransactionId: string | null
}

/** A verification of a card, as the sandbox stores it. */
export interface VerificationRow {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /**
   * Result of the verification. `gateway_rejected` means that the processor was not asked; `failed`
   * means that no processor was available.
   */
  status: 'verified' | 'processor_declined' | 'gateway_rejected' | 'failed'
  /** Verified amount in minor units. `0` unless the call set an amount. */
  amount: number
  /** Currency of the verification's merchant account. */
  currency: string
  /** Id of the merchant account: the requested one, or the default one. */
  merchantAccountId: string
  /**
   * Whether a card that works as a credit and as a debit card, as in Brazil, was verified as credit
   * or as debit. `null` if the call did not choose.
   */
  accountType?: 'credit' | 'debit' | null
  /** The verified card. */
  card?: CardDetails
  /** Result of 3-D Secure, from the nonce or from the authentication id in the call. */
  threeDSecure?: ThreeDSecureInfo
  /**
   * Token of the payment method that was stored after the verification. `null` if none was stored.
   */
  token?: string | null
  /** Billing address of the card at the time of the verification. */
  billingAddress?: BillingAddress | null
  /** Whether fraud protection evaluated the verification. */
  hasRiskData?: boolean
  /**
   * The processor's response code: `1000` means approved, codes from `2000` mean declined or
   * failed.
   */
  responseCode: string
  /**
   * Reason of the status `gateway_rejected`, such as `cvv`, `avs` or `fraud`. `null` for any other
   * status.
   */
  gatewayRejectionReason: string | null
  /** Creation time in epoch milliseconds. */
  createdAt: number
}

/** A payment method in the vault, as the sandbox stores it. */
export interface PaymentMethodRow {
  /** Primary key: the token by which charges and subscriptions refer to it. */
  token: string
  /** Id of the customer who has the payment method. */
  customerId: string
  /** The card or PayPal account. */
  instrument: PaymentInstrument
  /**
   * Whether this is the customer's default payment method. Each customer with payment methods has
   * exactly one default.
   */
  isDefault: boolean
  /**
   * Code with which every charge of the payment method fails: a processor response code or a
   * gateway rejection reason. `null` if charges can succeed.
   */
  alwaysFailsWith: string | null
  /** Id of the customer's address that is the billing address. `null` if there is none. */
  billingAddressId: string | null
  /** Verifications of the payment method, newest first. */
  verifications: VerificationRow[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** A single-use nonce. Braintree's fixed test nonces `fake-…` have no rows. */
export interface NonceRow {
  nonce: string
  instrument: PaymentInstrument
  alwaysFailsWith: string | null
  /**
   * Id of the customer for whose vault the nonce was created, or whose stored payment method it
   * refers to. `null` without a customer.
   */
  customerId: string | null
  /**
   * Token of the stored payment method from which the nonce was created. `null` if the payment
   * method is not stored.
   */
  token: string | null
  /** Token that the payment method gets when it is stored, chosen by the creator of the nonce. */
  wantedToken?: string | null
  /** Billing address entered with the card. */
  billingAddress?: BillingAddress | null
  /** Result of 3-D Secure, if the page verified the card. */
  threeDSecure?: ThreeDSecureInfo
  consumed: boolean
}
