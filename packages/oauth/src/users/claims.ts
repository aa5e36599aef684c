/** What the application says of a person: OpenID Connect Core §5.1, and whatever it has beside. */
export interface UserClaims {
  /** Full name, as it is shown. */
  readonly name?: string
  readonly given_name?: string
  readonly family_name?: string
  readonly middle_name?: string
  readonly nickname?: string
  /** What the person wants to be called; not unique. */
  readonly preferred_username?: string
  /** Address of a page about the person. */
  readonly profile?: string
  /** Address of a picture. */
  readonly picture?: string
  readonly website?: string
  readonly gender?: string
  /** `YYYY-MM-DD`, or `YYYY`. */
  readonly birthdate?: string
  /** Such as `Europe/Paris`. */
  readonly zoneinfo?: string
  /** Such as `fr-CA`. */
  readonly locale?: string
  /** When it was last changed, in seconds. */
  readonly updated_at?: number
  readonly email?: string
  readonly email_verified?: boolean
  readonly phone_number?: string
  readonly phone_number_verified?: boolean
  readonly address?: UserAddress
  readonly [claim: string]: unknown
}

/** OpenID Connect Core §5.1.1. */
export interface UserAddress {
  /** The whole of it, with line breaks. */
  readonly formatted?: string
  readonly street_address?: string
  readonly locality?: string
  readonly region?: string
  readonly postal_code?: string
  readonly country?: string
}
