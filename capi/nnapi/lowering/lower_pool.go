package lowering

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.AveragePool2D: pool(func(w window, kernel []int64, last bool) graph.Op {
			return &op.AveragePool{Kernel: kernel, Strides: w.strides, Pads: w.pads, AutoPad: w.auto, ChannelsLast: last}
		}),
		nnapi.MaxPool2D: pool(func(w window, kernel []int64, last bool) graph.Op {
			return &op.MaxPool{Kernel: kernel, Strides: w.strides, Pads: w.pads, AutoPad: w.auto, ChannelsLast: last}
		}),
		nnapi.L2Pool2D: pool(func(w window, kernel []int64, last bool) graph.Op {
			return &op.LpPool{Kernel: kernel, Strides: w.strides, Pads: w.pads, AutoPad: w.auto, P: 2, Mean: true,
				ChannelsLast: last}
		}),
	})
}

func pool(make func(w window, kernel []int64, channelsLast bool) graph.Op) func(n *node) {
	return func(n *node) {
		w := n.window(1)
		kernel := n.rightWay(w.next, 1)
		n.checkPads(w, kernel, []int64{1, 1})
		n.emitFused(w.next+2, make(w, kernel, n.channelsLast(w.next+3)), n.in(0))
	}
}
