package iso

import "strings"

// currencies are the active codes of ISO 4217 list one as of 1 January 2026 (amendment 180): currencies, funds,
// metals, units of account, and the codes for testing (XTS) and for no currency (XXX). Bulgaria uses the euro from
// that date, so BGN is no longer in the list; HRK, ANG (now XCG), CUC, SLL (now SLE) and ZWL (now ZWG) were removed
// earlier.
const currencies = " AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD" +
	" CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD" +
	" HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD" +
	" MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR" +
	" RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS" +
	" UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST" +
	" XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG "

// Currency reports whether code is an active ISO 4217 code, in capital letters (http-api.md section 2.1, currency).
func Currency(code string) bool {
	return len(code) == 3 && !strings.Contains(code, " ") && strings.Contains(currencies, " "+code+" ")
}
