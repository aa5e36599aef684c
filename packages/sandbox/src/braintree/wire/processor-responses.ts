import texts from './processor-responses.json' with { type: 'json' }

const RESPONSE_TEXTS: Readonly<Record<string, string>> = texts

export function getProcessorResponseText(code: string): string {
  if (code === '') return ''
  return RESPONSE_TEXTS[code] ?? (code.startsWith('1') ? 'Approved' : 'Processor Declined')
}

export function getProcessorResponseType(
  code: string,
): 'approved' | 'soft_declined' | 'hard_declined' {
  if (code.startsWith('1')) return 'approved'
  return HARD_DECLINES.has(code) ? 'hard_declined' : 'soft_declined'
}

const HARD_DECLINES = new Set(
  `2004 2005 2006 2007 2008 2012 2013 2014 2015 2017 2018 2019 2020 2022 2024 2025 2026 2027 2028
   2029 2030 2031 2032 2036 2037 2039 2040 2042 2043 2045 2047 2049 2050 2051 2053 2055 2058 2059
   2060 2061 2062 2063 2064 2070`.split(/\s+/),
)
