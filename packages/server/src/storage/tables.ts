/** Instants are milliseconds since 1970 UTC on every database. */
export interface UserRow {
  id: number
  email: string
  email_key: string
  name: string | null
  password_hash: string
  operator: number
  demo: number
  created_at: number
  disabled_at: number | null
  /** Billing's own; not there before its tables are made. */
  provider?: string | null | undefined
  provider_id?: string | null | undefined
}

export interface SessionRow {
  id_hash: string
  user_id: number
  created_at: number
  seen_at: number
  expires_at: number
}

export interface RateLimitRow {
  name: string
  points: number
  expires_at: number
}

/** A network an account was used from; `name` is `<account>@<network>`. */
export interface KnownNetworkRow {
  name: string
  account: string
  used_at: number
}

/** What happened on a day (UTC), such as `2027-03-03`. */
export interface DailyStatisticRow {
  name: string
  day: string
  /** A currency for money; empty for things that are counted. */
  unit: string
  amount: number
}

/** Events whose effect is in the statistics. */
export interface CountedEventRow {
  id: string
  counted_at: number
}

export interface ServiceTables {
  users: UserRow
  sessions: SessionRow
  rate_limits: RateLimitRow
  known_networks: KnownNetworkRow
  daily_figures: DailyStatisticRow
  counted_events: CountedEventRow
}
