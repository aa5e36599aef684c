/**
 * Claims about a user that clients may receive: the standard claims of OpenID Connect Core §5.1 and
 * any other claims of the application.
 */
export interface UserClaims {
  /** Full name as displayed. */
  readonly name?: string
  /** Given name or names. */
  readonly given_name?: string
  /** Family name or names. */
  readonly family_name?: string
  /** Middle name or names. */
  readonly middle_name?: string
  /** Casual name. */
  readonly nickname?: string
  /** Preferred short name or user name. Need not be unique. */
  readonly preferred_username?: string
  /** URL of the user's profile page. */
  readonly profile?: string
  /** URL of a picture of the user. */
  readonly picture?: string
  /** URL of the user's own website. */
  readonly website?: string
  /** Gender as stated by the user. */
  readonly gender?: string
  /** Birthday as `YYYY-MM-DD`, or only the year as `YYYY`. */
  readonly birthdate?: string
  /** Time zone, such as `Europe/Paris`. */
  readonly zoneinfo?: string
  /** Locale, such as `fr-CA`. */
  readonly locale?: string
  /** When the user's data was last changed, in seconds since the epoch. */
  readonly updated_at?: number
  /** E-mail address. */
  readonly email?: string
  /** Whether the user has proven ownership of the e-mail address. */
  readonly email_verified?: boolean
  /** Phone number in E.164 format, such as `+44 20 7946 0000`. */
  readonly phone_number?: string
  /** Whether the user has proven ownership of the phone number. */
  readonly phone_number_verified?: boolean
  /** Postal address. */
  readonly address?: UserAddress
  /** Names of the groups the user belongs to. Sent for the scope `groups`. */
  readonly groups?: readonly string[]
  readonly [claim: string]: unknown
}

/** Postal address of a user (OpenID Connect Core §5.1.1). */
export interface UserAddress {
  /** The full address with line breaks. */
  readonly formatted?: string
  /** Street and house number, possibly with line breaks. */
  readonly street_address?: string
  /** City or locality. */
  readonly locality?: string
  /** State, province or region. */
  readonly region?: string
  /** Postal code. */
  readonly postal_code?: string
  /** Name of the country. */
  readonly country?: string
}
