/**
 * SQL expression for the reason why this server is not the primary, or `null`. A standby knows only
 * what it has replayed, and reports every transaction as read-only; a primary does so if it was
 * fenced or its disk is full.
 */
export const NOT_PRIMARY_REASON_SQL = `case
  when pg_is_in_recovery() then 'is a standby in recovery'
  when current_setting('transaction_read_only') = 'on' then 'is read-only'
end`
