export function responseTextOf(code: string): string {
  if (code === '') return ''
  return RESPONSE_TEXTS[code] ?? (code.startsWith('1') ? 'Approved' : 'Processor Declined')
}

export function responseTypeOf(code: string): 'approved' | 'soft_declined' | 'hard_declined' {
  if (code.startsWith('1')) return 'approved'
  return HARD_DECLINES.has(code) ? 'hard_declined' : 'soft_declined'
}

const HARD_DECLINES = new Set(
  `2004 2005 2006 2007 2008 2012 2013 2014 2015 2017 2018 2019 2020 2022 2024 2025 2026 2027 2028
   2029 2030 2031 2032 2036 2037 2039 2040 2042 2043 2045 2047 2049 2050 2051 2053 2055 2058 2059
   2060 2061 2062 2063 2064 2070`.split(/\s+/),
)

const RESPONSE_TEXTS: Readonly<Record<string, string>> = {
  1000: 'Approved',
  1004: 'Approved for Partial Amount',
  1005: 'Auth Declined but Settlement Captured',
  2000: 'Do Not Honor',
  2001: 'Insufficient Funds',
  2002: 'Limit Exceeded',
  2003: "Cardholder's Activity Limit Exceeded",
  2004: 'Expired Card',
  2005: 'Invalid Credit Card Number',
  2006: 'Invalid Expiration Date',
  2007: 'No Account',
  2008: 'Card Account Length Error',
  2009: 'No Such Issuer',
  2010: 'Card Issuer Declined CVV',
  2011: 'Voice Authorization Required',
  2012: 'Processor Declined - Possible Lost Card',
  2013: 'Processor Declined - Possible Stolen Card',
  2014: 'Processor Declined - Fraud Suspected',
  2015: 'Transaction Not Allowed',
  2016: 'Duplicate Transaction',
  2017: 'Cardholder Stopped Billing',
  2018: 'Cardholder Stopped All Billing',
  2019: 'Invalid Transaction',
  2020: 'Violation',
  2021: 'Security Violation',
  2022: 'Declined - Updated Cardholder Available',
  2023: 'Processor Does Not Support This Feature',
  2024: 'Card Type Not Enabled',
  2025: 'Set Up Error - Merchant',
  2026: 'Invalid Merchant ID',
  2027: 'Set Up Error - Amount',
  2028: 'Set Up Error - Hierarchy',
  2029: 'Set Up Error - Card',
  2030: 'Set Up Error - Terminal',
  2031: 'Encryption Error',
  2032: 'Surcharge Not Permitted',
  2033: 'Inconsistent Data',
  2034: 'No Action Taken',
  2035: 'Partial Approval For Amount In Group III Version',
  2036: 'Authorization could not be found',
  2037: 'Already Reversed',
  2038: 'Processor Declined',
  2039: 'Invalid Authorization Code',
  2040: 'Invalid Store',
  2041: 'Declined - Call For Approval',
  2042: 'Invalid Client ID',
  2043: 'Error - Do Not Retry, Call Issuer',
  2044: 'Declined - Call Issuer',
  2045: 'Invalid Merchant Number',
  2046: 'Declined',
  2047: 'Call Issuer. Pick Up Card.',
  2048: 'Invalid Amount',
  2053: 'Card reported as lost or stolen',
  2057: 'Issuer or Cardholder has put a restriction on the card',
  2059: 'Address Verification Failed',
  2060: 'Address Verification and Card Security Code Failed',
  2061: 'Invalid Transaction Data',
  2062: 'Invalid Tax Amount',
  2064: 'Invalid Currency Code',
  2070: 'PayPal Payer Account is Locked or Closed',
  2074: 'Funding Instrument In The PayPal Account Was Declined By The Processor Or Bank',
  2099: 'Cardholder Authentication Required',
  3000: 'Processor Network Unavailable - Try Again',
  4000: 'Approved',
  4001: 'Settlement Declined',
  4002: 'Settlement Pending',
  4003: 'Already Captured',
  4004: 'Already Refunded',
  4005: 'PayPal Risk Rejected',
  4006: 'Capture Amount Exceeded Allowable Limit',
}
