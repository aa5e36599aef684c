/** What the application says of a person: OpenID Connect Core §5.1, and whatever it has beside. */
export interface UserClaims {
  /** Full name, as it is shown. */
  readonly name?: string
  /** First name, or names. */
  readonly given_name?: string
  /** Surname, or surnames. */
  readonly family_name?: string
  /** Middle name, or names. */
  readonly middle_name?: string
  /** What friends say. */
  readonly nickname?: string
  /** What the person wants to be called; not unique. */
  readonly preferred_username?: string
  /** Address of a page about the person. */
  readonly profile?: string
  /** Address of a picture. */
  readonly picture?: string
  /** Address of a page of their own. */
  readonly website?: string
  /** As the person says it. */
  readonly gender?: string
  /** `YYYY-MM-DD`, or `YYYY`. */
  readonly birthdate?: string
  /** Such as `Europe/Paris`. */
  readonly zoneinfo?: string
  /** Such as `fr-CA`. */
  readonly locale?: string
  /** When it was last changed, in seconds. */
  readonly updated_at?: number
  /** Where mail reaches them. */
  readonly email?: string
  /** Whether mail has reached them there. */
  readonly email_verified?: boolean
  /** As E.164 writes it: `+44 20 7946 0000`. */
  readonly phone_number?: string
  /** Whether a call or message has reached them there. */
  readonly phone_number_verified?: boolean
  /** Where they live. */
  readonly address?: UserAddress
  /** The names of the groups that the person belongs to; told with the scope `groups`. */
  readonly groups?: readonly string[]
  readonly [claim: string]: unknown
}

/** OpenID Connect Core §5.1.1. */
export interface UserAddress {
  /** The whole of it, with line breaks. */
  readonly formatted?: string
  /** Street and number, with line breaks. */
  readonly street_address?: string
  /** City. */
  readonly locality?: string
  /** State, province or county. */
  readonly region?: string
  /** Postal code. */
  readonly postal_code?: string
  /** Name of the country. */
  readonly country?: string
}
