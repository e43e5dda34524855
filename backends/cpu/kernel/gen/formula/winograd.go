package formula

// WinoP and WinoQ are the points of Winograd's F(4,3), beside 0 and infinity, each with both signs. Of those that
// floating point holds with their squares and products they leave the smallest errors: a third of those of 1 and 2.
const (
	WinoP, WinoQ = 0.625, 1.5
	WinoPP       = WinoP * WinoP
	WinoQQ       = WinoQ * WinoQ
	WinoNP       = 2 * WinoPP * (WinoPP - WinoQQ) // divides a filter's values at P and -P
	WinoNQ       = 2 * WinoQQ * (WinoQQ - WinoPP)
)
